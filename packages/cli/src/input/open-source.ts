/** Reads the named file, or stdin for `-`. Imports Node, the reader and the source. */
import { readdirSync } from 'node:fs'
import path from 'node:path'
import { InputError } from '@reprise/workflow'
import { NO_FILE, parseSource, readText, type Source, STDIN } from '@reprise/workflow/internal'
import { nearest } from 'reprise/internal'
import type { CommandContext } from '../command-context.js'
import type { Output } from '../world.js'

export async function openSource(name: string, { world, settings }: CommandContext): Promise<Source> {
  if (name === '-' && world.stdin.isTTY) waitForTyping(settings.input, world.stderr)
  const { file, text } = await readText(name, world.stdin).catch((error: unknown) => {
    throw withCure(error, name)
  })
  return parseSource(file, text)
}

/** At most this many files are named. */
const SHOWN = 5

/** A file that is not there was misspelt, or is in another directory, or nobody has written one yet. */
function withCure(error: unknown, name: string): unknown {
  if (!(error instanceof InputError) || error.problems[0]?.message !== NO_FILE) return error
  const directory = path.dirname(name)
  const files = documentsIn(directory)
  // Without their endings, which make all names similar.
  const stems = files.map((file) => path.parse(file).name)
  const near = files[stems.indexOf(nearest(path.parse(name).name, stems) ?? '')]
  const where = directory === '.' ? 'this directory' : directory
  const suggestion =
    near !== undefined
      ? `did you mean \`${path.join(directory, near)}\`?`
      : files.length > 0
        ? `${where} has ${files.slice(0, SHOWN).join(', ')}${files.length > SHOWN ? ', …' : ''}`
        : '`reprise init` writes an example to start from'
  return new InputError([{ file: name, message: NO_FILE, suggestion }])
}

function documentsIn(directory: string): string[] {
  try {
    return readdirSync(directory)
      .filter((file) => /\.(ya?ml|json)$/.test(file))
      .toSorted()
  } catch {
    return []
  }
}

function waitForTyping(mayAsk: boolean, stderr: Output): void {
  if (!mayAsk)
    throw new InputError([
      { file: STDIN, message: 'stdin is a terminal, and --no-input forbids to ask: pipe the file in' },
    ])
  stderr.write('Type a policy, such as `attempts: 5`, and end it with Ctrl-D.\n')
}
