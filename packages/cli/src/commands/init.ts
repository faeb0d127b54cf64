/**
 * `reprise init [DIR]`: writes a working example. Imports the templates and output.
 *
 * Invariant: all files are written, or none: what is there stays as it is, and what was begun is taken back.
 */
import { lstatSync, rmSync, statSync } from 'node:fs'
import path from 'node:path'
import { plainText } from 'reprise/internal'
import type { ParsedArguments } from '../command.js'
import type { CommandContext } from '../command-context.js'
import { RefusedError } from '../failures.js'
import { writeJson } from '../output/json.js'
import { displayFor } from '../output/display.js'
import { commandWords, shellWord } from '../output/next-commands.js'
import { makeDirectory, writeNewFile } from '../output/write-file.js'
import { type Template, type TemplateName, TEMPLATES } from '../templates/template.js'

/** Unless `--template` says another. */
const DEFAULT_TEMPLATE: TemplateName = 'shell'

type Options = {
  readonly template?: TemplateName
}

export async function run(
  {
    values: { dir = '.' },
    options: { template = DEFAULT_TEMPLATE },
  }: ParsedArguments<{ readonly dir?: string }, Options>,
  { io, settings }: CommandContext,
): Promise<void> {
  const chosen = TEMPLATES[template]
  const files = Object.keys(chosen.files).map((name) => path.join(dir, name))
  expectNothing(dir, files, template)
  writeAll(dir, chosen)
  const words = commandWords(settings, io.env)
  const next = [
    ...(path.resolve(dir) === process.cwd() ? [] : [`cd ${shellWord(dir)}`]),
    ...chosen.next.map((typed) => (typed.startsWith('reprise ') ? words(typed.split(' ').slice(1)) : typed)),
  ]
  if (settings.json) return writeJson(io.stdout, { files, next })
  for (const file of files) io.stdout.write(`${plainText(file, file.length)}\n`)
  if (settings.quiet) return
  const { cyan } = displayFor(io, settings, io.stderr).style
  io.stderr.write(next.map((command) => `${cyan('next:')} ${command}\n`).join(''))
}

function expectNothing(dir: string, files: readonly string[], template: string): void {
  const directory = statSync(dir, { throwIfNoEntry: false })
  if (directory === undefined) return
  if (!directory.isDirectory()) throw refusal(`${dir} is there already, and is no directory`, `${dir}-demo`, template)
  const taken = files.filter(isThere)
  if (taken.length === 0) return
  throw refusal(
    `${taken.join(' and ')} ${taken.length === 1 ? 'is' : 'are'} there already`,
    path.join(dir, 'demo'),
    template,
  )
}

/** A link that leads nowhere is there as well. */
function isThere(file: string): boolean {
  return lstatSync(file, { throwIfNoEntry: false }) !== undefined
}

function refusal(why: string, other: string, template: string): RefusedError {
  return new RefusedError({
    kind: 'not_possible',
    message: `${why}: nothing was written.`,
    next: [['init', other, ...(template === DEFAULT_TEMPLATE ? [] : ['--template', template])]],
  })
}

function writeAll(dir: string, { files }: Template): void {
  const made = makeDirectory(dir)
  const written: string[] = []
  try {
    for (const [name, text] of Object.entries(files)) {
      const file = path.join(dir, name)
      writeNewFile(file, text)
      written.push(file)
    }
  } catch (error) {
    for (const file of written) rmSync(file, { force: true })
    if (made !== undefined) rmSync(made, { recursive: true, force: true })
    throw error
  }
}
