/**
 * `write_file:` a text or data, as a whole or not at all: written beside the file, synced, and put in its place. Who reads
 * it sees the old or the new, also after a crash. Imports Node's file system, templates.
 */
import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { mkdir, open, realpath, rename, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import type { WriteFileAction } from '../plan/plan.js'
import { SetupError } from '../values/setup-error.js'
import { fillJson, fillText } from '../values/template.js'
import type { StepContext, StepOutput } from './step-context.js'

/** The output is the absolute path. */
export async function writeStepFile(action: WriteFileAction, context: StepContext): Promise<StepOutput> {
  const { values, cwd, signal } = context
  const given = fillText(action.path, values)
  if (given.trim() === '') throw new SetupError('unusable_value', 'the `path` of `write_file` is empty')
  if (given.includes('\0')) throw new SetupError('unusable_value', 'the `path` of `write_file` holds a NUL character')
  const named = path.resolve(cwd, given)
  const text = contentOf(action, context)
  signal.throwIfAborted()
  await mkdir(path.dirname(named), { recursive: true })
  // Through a link, as any program would write.
  const file = await realpath(named).catch(() => named)
  const before = await stat(file).catch(() => undefined)
  if (before !== undefined && !before.isFile()) {
    throw new SetupError('unusable_value', `\`write_file\` cannot replace ${named}: it is not a regular file`)
  }
  await replace(file, text, action.mode ?? (before === undefined ? null : before.mode & 0o7777), signal)
  return { output: named, exitCode: 0 }
}

function contentOf({ content }: WriteFileAction, { values }: StepContext): string {
  if (typeof content === 'string') return fillText(content, values)
  return `${JSON.stringify(fillJson(content, values), null, 2)}\n`
}

async function replace(file: string, text: string, mode: number | null, signal: AbortSignal): Promise<void> {
  const temporary = path.join(path.dirname(file), `.${path.basename(file).slice(0, 100)}.${randomUUID()}.tmp`)
  try {
    const handle = await open(temporary, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, mode ?? 0o666)
    try {
      await handle.writeFile(text)
      // `open` leaves out what the mask of the process does.
      if (mode !== null) await handle.chmod(mode)
      await handle.sync()
    } finally {
      await handle.close()
    }
    signal.throwIfAborted()
    await rename(temporary, file)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
  await syncDirectory(path.dirname(file))
}

/** The name is in its directory only when that is synced. */
async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, constants.O_RDONLY)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
