/** A text that somebody edits at the terminal, in the editor of their choice. Imports Node and the errors of a wrong use. */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { UsageError } from '../failures.js'
import type { ProcessIo } from '../process-io.js'

/** The editor may have flags, as in `EDITOR="code --wait"`, so a shell starts it. */
export async function editedText(before: string, env: ProcessIo['env']): Promise<string> {
  const editor = env['VISUAL'] || env['EDITOR'] || 'vi'
  const directory = mkdtempSync(path.join(tmpdir(), 'reprise-edit-'))
  const file = path.join(directory, 'data.json')
  try {
    writeFileSync(file, before, { mode: 0o600 })
    const child = spawn('sh', ['-c', `${editor} "$1"`, 'sh', file], { stdio: 'inherit', env: { ...env } })
    const code = await new Promise((resolve, reject) => {
      child.once('error', reject)
      child.once('close', resolve)
    })
    if (code !== 0) throw new UsageError(`${editor} ended with exit code ${String(code)}: nothing was changed`)
    return readFileSync(file, 'utf8')
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
