/** A ledger's files come and go while others look at them. Starts a process that makes and removes one. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expectOwnStore } from '@reprise/workflow/internal'
import { expect, test } from 'vitest'

const FLICKER = `
const { closeSync, openSync, unlinkSync } = require('node:fs')
const file = process.argv[1]
process.send?.('ready')
for (;;) { closeSync(openSync(file, 'w', 0o600)); unlinkSync(file) }
`

test('a file that the last one to close a ledger removes is no fault of the store', async () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'reprise-own-store-'))
  const child = spawn(process.execPath, ['-e', FLICKER, path.join(directory, 'ledger.db-shm')], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  try {
    await once(child, 'message')
    for (let look = 0; look < 20_000; look++) expectOwnStore(`sqlite:${directory}/ledger.db`, directory)
    expect(child.exitCode).toBeNull()
  } finally {
    child.kill('SIGKILL')
    await once(child, 'exit')
    rmSync(directory, { recursive: true })
  }
})
