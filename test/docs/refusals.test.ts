/** What docs/resume.md shows of a record that cannot be is what is printed of one. Needs a build. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { openSqlite } from '../../packages/reprise/src/sqlite/open-sqlite.js'
import { findFences, ROOT } from './fences.js'
import { differenceOf, Shell } from './page-session.js'

const page = 'docs/resume.md'
const fences = findFences(readFileSync(path.join(ROOT, page), 'utf8'), page)
const workflow = fences.find(({ flags }) => flags.includes('file=nightly.yaml'))?.code ?? ''
const shown = fences.find(({ flags }) => flags.includes('inconsistent'))?.code.trimEnd() ?? ''

const shell = new Shell()
afterAll(() => shell.end())

/** Somebody has written to it who should not have. */
async function spoil(): Promise<void> {
  const ledger = await openSqlite(path.join(shell.directory, '.reprise/ledger.db'))
  const key = { scopeKind: 'run', scope: 'r2', id: 'load' } as const
  await ledger.transact({ tasks: [key] }, (view) => {
    const task = view.task(key)
    if (task === undefined) throw new Error('there is no such task')
    const retry = { ...task.progress.retry, launched: 9, failures: 9 }
    return { tasks: [{ ...task, progress: { ...task.progress, retry } }], result: undefined }
  })
  await ledger.close()
}

test('a record that cannot be is refused as the page shows', async () => {
  shell.write('nightly.yaml', workflow)
  await shell.type('reprise run nightly.yaml --run-id r2 > run.log 2>&1 &')
  await shell.type('until grep -q Retrying run.log; do sleep 0.1; done; { kill -9 $!; wait $!; } 2> /dev/null')
  await spoil()
  const command = 'reprise resume r2'
  const { output, code } = await shell.type(command)
  expect(code).toBe(4)
  expect(shown).not.toBe('')
  expect(differenceOf(shell.steady(shown, command), shell.steady(output, command)), output).toBeUndefined()
})
