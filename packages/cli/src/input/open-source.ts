/** Reads the named file, or stdin for `-`. Imports the reader and the source. */
import { InputError } from '@reprise/workflow'
import { cureForMissing, NO_FILE, parseSource, readText, type Source, STDIN } from '@reprise/workflow/internal'
import type { CommandContext } from '../command-context.js'
import type { Output } from '../process-io.js'

export async function openSource(name: string, { io, settings }: CommandContext): Promise<Source> {
  if (name === '-' && io.stdin.isTTY) waitForTyping(settings.input, io.stderr)
  const { file, text } = await readText(name, io.stdin).catch((error: unknown) => {
    throw withCure(error, name)
  })
  return parseSource(file, text)
}

/** Adds a cure: the name may be misspelt, the file in another directory, or not written yet. */
function withCure(error: unknown, name: string): unknown {
  if (!(error instanceof InputError) || error.problems[0]?.message !== NO_FILE) return error
  const suggestion = cureForMissing(name) ?? '`reprise init` writes an example to start from'
  return new InputError([{ file: name, message: NO_FILE, suggestion }])
}

function waitForTyping(mayAsk: boolean, stderr: Output): void {
  if (!mayAsk)
    throw new InputError([
      { file: STDIN, message: 'stdin is a terminal, and --no-input forbids to ask: pipe the file in' },
    ])
  stderr.write('Type a policy, such as `attempts: 5`, and end it with Ctrl-D.\n')
}
