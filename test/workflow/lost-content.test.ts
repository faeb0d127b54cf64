/** Stores that have lost what was in them, that this user may not read, or that a newer version wrote: refused, and not taken for new ones. */
import { chmodSync, statSync, truncateSync } from 'node:fs'
import { spawnSync } from 'node:child_process'
import { afterEach, describe, expect, test } from 'vitest'
import { openDatabase } from '../../packages/reprise/src/sqlite/driver.js'
import { canBeOtherUser, OTHER_USER, OTHER_USER_NEED } from '../faults/other-user.js'
import { bin, CliFixture } from './cli-fixture.js'

const OK = 'steps:\n  - { id: said, shell: echo hi }\n'
const JOB = `
mode: job
name: probe
datacenters: [eu]
workflows: [{ name: w, document: { steps: [{ shell: echo hi }] } }]
`
const SLEEPS = `
steps:
  - { id: said, shell: echo hi; touch begun; test -e go || sleep 60 }
`

let cli: CliFixture
afterEach(() => cli.remove())

const file = (): string => cli.path('.reprise/ledger.db')
const size = (): number => statSync(file()).size

describe('a store that has lost its content', () => {
  test('is refused by every command once its file was emptied, though logs of earlier runs are beside it', async () => {
    cli = new CliFixture(OK)
    expect((await cli.reprise('run', 'workflow.yaml', '--run-id', 'r1')).code).toBe(0)
    truncateSync(file(), 0)
    cli.write('job.yaml', JOB)
    for (const command of [
      ['ps'],
      ['show', 'r1'],
      ['run', 'workflow.yaml'],
      ['resume'],
      ['breakers', 'list'],
      ['store', 'backup', 'copy.db'],
      ['store', 'status'],
      ['store', 'migrate'],
      ['worker', '--datacenter', 'eu'],
      ['job', 'run', 'job.yaml'],
      ['job', 'submit', 'job.yaml'],
      ['job', 'list'],
    ]) {
      const { code, stderr } = await cli.reprise(...command)
      expect(stderr, command.join(' ')).toContain('holds nothing, although logs of earlier runs are beside it (r1)')
      expect(stderr).toContain('reprise store restore BACKUP')
      expect(code).toBe(74)
      expect(size()).toBe(0)
    }
  })

  test('is refused where the log of its first run was cut, which is left as it is', async () => {
    cli = new CliFixture(SLEEPS)
    // Not looked into meanwhile: whoever closes a ledger moves its log into the file.
    await cli.killed(['run', 'workflow.yaml', '--run-id', 'r1'], () => cli.has('begun'))
    cli.write('go', '')
    const log = `${file()}-wal`
    truncateSync(log, 2000)
    const { code, stderr } = await cli.reprise('run', 'workflow.yaml')
    expect(stderr).toContain('holds nothing, although logs of earlier runs are beside it (r1)')
    expect(code).toBe(74)
    expect(statSync(log).size).toBe(2000)
  })

  test('is a new one where nothing was ever logged, or where its file was taken away', async () => {
    cli = new CliFixture(OK)
    expect((await cli.reprise('run', 'workflow.yaml', '--run-id', 'r1')).code).toBe(0)
    expect((await cli.reprise('clean', 'r1', '--yes')).code).toBe(0)
    truncateSync(file(), 0)
    expect((await cli.reprise('run', 'workflow.yaml', '--run-id', 'r2')).code).toBe(0)
  })
})

test.skipIf(!canBeOtherUser)(
  `a store that this user may not look at is an error, and not a store without runs${canBeOtherUser ? '' : ` ${OTHER_USER_NEED}`}`,
  async () => {
    cli = new CliFixture(OK)
    chmodSync(cli.directory, 0o755)
    expect((await cli.reprise('run', 'workflow.yaml', '--run-id', 'r1')).code).toBe(0)
    for (const command of [['ps'], ['show', 'r1'], ['breakers', 'list']]) {
      const options = { cwd: cli.directory, encoding: 'utf8', uid: OTHER_USER, gid: OTHER_USER } as const
      const { status, stdout, stderr } = spawnSync(process.execPath, [bin, ...command], options)
      expect(stdout).toBe('')
      expect(stderr, command.join(' ')).toMatch(/\.reprise.* this user has no permission/s)
      expect(status).toBe(74)
    }
  },
)

test('a backup of a store that a newer version wrote is refused, and leaves no file', async () => {
  cli = new CliFixture(OK)
  expect((await cli.reprise('run', 'workflow.yaml', '--run-id', 'r1')).code).toBe(0)
  const database = await openDatabase(file())
  database.exec('PRAGMA user_version = 99')
  database.close()
  const { code, stderr } = await cli.reprise('store', 'backup', 'copy.db')
  expect(stderr).toMatch(/^refused: .* was written by a newer Reprise \(version 99/)
  expect(code).toBe(4)
  expect(cli.has('copy.db')).toBe(false)
})
