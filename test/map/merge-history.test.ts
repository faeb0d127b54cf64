/** The checker of merges tells each fault of a history that was spoiled on purpose. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { AttemptRow, DeadLetter, TaskRecord } from '../../packages/reprise/src/ledger/records.js'
import { CliFixture } from '../workflow/cli-fixture.js'
import { GitScene } from './git-scene.js'
import { type MergeHistory, mergeFaults } from './merge-history.js'

const cli = new CliFixture()
const repository = new GitScene(cli, { README: 'begin\n' })
const base = repository.git('rev-parse', 'HEAD')
afterAll(() => cli.remove())

const task = (id: string, status: string): TaskRecord => ({ id, status }) as TaskRecord
const row = (id: string): AttemptRow => ({ id, generation: 1, attempt: 1, execution: 1 }) as AttemptRow
const letter = (id: string, branch: string): DeadLetter =>
  ({ id, failure: { message: `merge conflict in pair: the work is kept on branch ${branch}` } }) as DeadLetter

/** What an execution has done, on a branch of its own. */
function work(branch: string, ...files: string[]): void {
  repository.git('checkout', '--quiet', '-b', branch, 'main')
  for (const file of files) cli.write(file, `by ${branch}\n`)
  repository.git('add', '--', ...files)
  repository.git('commit', '--quiet', '-m', branch)
  repository.git('checkout', '--quiet', 'main')
}

function merge(branch: string, item: string, attempt: string): void {
  const message = `merge\n\nReprise-Item: ${item}\nReprise-Attempt: ${attempt}\n`
  repository.git('merge', '--quiet', '--no-ff', '-m', message, branch)
  repository.git('branch', '--quiet', '-D', branch)
}

/** Item 1 is merged, and item 2 was refused: its work is on its branch. */
const history: MergeHistory = {
  repository,
  base,
  tasks: [task('0000000.1', 'succeeded'), task('0000001.2', 'failed')],
  rows: [row('0000000.1'), row('0000001.2')],
  letters: [letter('0000001.2', 'reprise/r/map/0000001-1.1.1')],
  proofs: ['proof-1', 'proof-2'],
  fileOf: ({ id }) => `file-${Number.parseInt(id, 10) + 1}`,
}

beforeAll(() => {
  work('reprise/r/map/0000000-1.1.1', 'file-1', 'proof-1')
  work('reprise/r/map/0000001-1.1.1', 'file-2', 'proof-2')
  merge('reprise/r/map/0000000-1.1.1', '0000000.1', '0000000-1.1.1')
})

test('a history without faults has none', () => {
  expect(mergeFaults(history)).toEqual([])
})

test('items that failed and are merged, and the reverse, are told', () => {
  const tasks = [task('0000000.1', 'failed'), task('0000001.2', 'succeeded')]
  expect(mergeFaults({ ...history, tasks })).toEqual([
    '0000000.1 is failed, and was merged',
    '0000001.2 is succeeded, and was not merged',
    '0000000.1 is failed, and its work is in 1 commits',
    '0000001.2 is succeeded, and its work is in 0 commits',
  ])
})

test('merges by executions that the ledger does not know, and proofs in no commit, are told', () => {
  expect(mergeFaults({ ...history, rows: [row('0000001.2')], proofs: ['proof-1', 'proof-3'] })).toEqual([
    '0000000.1 was merged with 0000000-1.1.1, which the ledger does not know',
    'proof-3 is in no commit',
  ])
})

test('branches without work, dead letters that name them, working trees and changed files are told', () => {
  const branch = 'reprise/r/map/0000003-1.1.1'
  repository.git('branch', branch, 'main')
  repository.git('worktree', 'add', '--quiet', '--detach', cli.path('left'), 'main')
  cli.write('README', 'changed\n')
  expect(mergeFaults({ ...history, letters: [letter('0000001.2', branch)] })).toEqual([
    `branch ${branch} is kept, and has nothing of its own`,
    '1 working trees are left',
    'the directory of the run was left with changes: M README',
    `${branch} does not have the work of 0000001.2`,
  ])
  repository.git('branch', '-D', branch)
  repository.git('worktree', 'remove', '--force', cli.path('left'))
  repository.git('checkout', '--quiet', 'README')
})

test('an item that is merged twice, and work that is lost with its branch, are told', () => {
  work('reprise/r/map/0000000-1.1.2', 'file-1')
  merge('reprise/r/map/0000000-1.1.2', '0000000.1', '0000000-1.1.2')
  repository.git('branch', '--quiet', '-D', 'reprise/r/map/0000001-1.1.1')
  expect(mergeFaults(history)).toEqual([
    '0000000.1 was merged with 0000000-1.1.2 and with 0000000-1.1.1',
    '0000000.1 is succeeded, and its work is in 2 commits',
    'proof-2 is in no commit',
    expect.stringMatching(/^0000001\.2 failed with .*, and there is no such branch$/),
  ])
})
