/**
 * What a resume says and does of a map that was killed, stopped, changed or cancelled. Runs begin, and are killed, as processes
 * of their own. Needs a build.
 */
import type { ItemPage } from '@reprise/workflow/internal'
import { afterEach, expect, test } from 'vitest'
import { CliFixture, type Ended, until } from './cli-fixture.js'
import { repriseInProcess } from './cli-in-process.js'
import { onBothStores } from './both-stores.js'

onBothStores('a resume of a map', () => {
  let fixture: CliFixture
  afterEach(() => fixture.remove())

  /** Within this process: what the command does to the run, and says, is the same. */
  const here = (...args: string[]): Promise<Ended> => repriseInProcess(fixture, ...args)

  /** Items fail with their own number as exit code while `fail` holds it. */
  const failing = (policy: string, count = 20): string => `
name: import
mode: mapreduce
map:
  input: { range: [1, ${count}] }
  max_parallel: 2
  agent_template: [{ shell: 'echo "\${item}" >> ran; ! grep -qx "\${item}" fail' }]
error_policy: ${policy}
reduce: [{ shell: "echo \${map.succeeded} >> sums" }]
`

  const stopped = async (policy: string, fails: readonly number[]): Promise<void> => {
    fixture = new CliFixture(failing(policy))
    fixture.write('fail', `${fails.join('\n')}\n`)
    const { code } = await fixture.reprise('run', 'workflow.yaml', '--run-id', 'r1')
    expect(code).toBe(1)
  }

  test('14: a map that max_failures stopped is refused with its cures, and goes on with --max-failures', async () => {
    await stopped('{ max_failures: 2 }', [3, 4, 9])
    const refused = await here('resume', 'r1')
    expect(refused.code).toBe(4)
    expect(refused.stderr).toContain('refused: Map map was stopped: 2 items failed, and `max_failures` is 2.')
    expect(refused.stderr).toContain('next: reprise dlq retry r1')
    expect(refused.stderr).toContain('next: reprise resume r1 --max-failures 12')
    expect(refused.stderr).toContain('next: reprise resume r1 --reset-retries')
    const same = await here('resume', 'r1', '--max-failures', '2')
    expect([same.code, same.stderr.includes('--max-failures 2 would stop it again at once')]).toEqual([4, true])
    expect(same.stderr).toContain('next: reprise resume r1 --max-failures 12\n')
    const before = fixture.count('ran')
    const resumed = await here('resume', 'r1', '--max-failures', '10')
    expect(resumed.code).toBe(3)
    expect(fixture.count('ran')).toBe(20)
    expect(before).toBeLessThan(20)
    expect(fixture.read('sums')).toBe('17\n')
  })

  test('14: a map that failure_threshold stopped is refused with its cures, until redriven items have succeeded', async () => {
    const fails = [2, 3, 5, 7, 8, 9]
    await stopped('{ failure_threshold: 0.3 }', fails)
    const before = fixture.count('ran')
    const refused = await here('resume', 'r1')
    expect(refused.code).toBe(4)
    expect(refused.stderr).toMatch(
      /refused: Map map was stopped: \d+ of \d+ ended items failed, and `failure_threshold` is 0.3/,
    )
    expect(refused.stderr).toContain('next: reprise dlq retry r1')
    expect(refused.stderr).toContain('next: reprise resume r1 --reset-retries')
    expect(refused.stderr).not.toContain('--max-failures')
    // Failed again, they are above the share as before.
    expect((await here('dlq', 'retry', 'r1')).code).toBe(1)
    expect((await here('resume', 'r1')).code).toBe(4)
    fixture.write('fail', '')
    expect((await here('dlq', 'retry', 'r1')).code).toBe(0)
    expect((await here('resume', 'r1')).code).toBe(0)
    expect(fixture.read('sums')).toBe('20\n')
    expect(before).toBeLessThan(20)
  })

  test.each(['{ on_item_failure: stop }', '{ halt_on: [1] }'])(
    '14: a map that %s stopped goes on with --reset-retries, which grants failed items a fresh set of attempts',
    async (policy) => {
      await stopped(policy, [3])
      const refused = await here('resume', 'r1')
      expect([refused.code, refused.stderr.includes('--max-failures')]).toEqual([4, false])
      fixture.write('fail', '')
      const preview = await here('resume', 'r1', '--reset-retries', '--dry-run', '--json')
      expect(JSON.parse(preview.stdout)).toMatchObject({ preview: { maps: [{ reset: 1, failed: 1 }] } })
      expect((await here('resume', 'r1', '--reset-retries')).code).toBe(0)
      expect(fixture.read('sums')).toBe('20\n')
      expect(fixture.count('ran')).toBe(21)
    },
  )

  test('a run whose items failed for good is refused, and --reset-retries runs them again', async () => {
    fixture = new CliFixture(failing('{}', 4))
    fixture.write('fail', '2\n')
    expect((await fixture.reprise('run', 'workflow.yaml', '--run-id', 'r1')).code).toBe(3)
    const refused = await here('resume', 'r1')
    expect(refused.code).toBe(4)
    expect(refused.stderr).toContain('1 item of map map failed for good')
    fixture.write('fail', '')
    expect((await here('resume', 'r1', '--reset-retries')).code).toBe(0)
    expect(fixture.count('ran')).toBe(5)
  })

  const slow = `
name: import
mode: mapreduce
map:
  input: { range: [1, 20] }
  max_parallel: 2
  agent_template: [{ id: work, shell: 'echo "\${item}" >> ran; test -e go || test "\${item}" -lt 5 || sleep 60' }]
reduce: [{ shell: "echo \${map.succeeded} >> sums" }]
`

  const killed = async (): Promise<void> => {
    fixture = new CliFixture(slow)
    await fixture.killed(['run', 'workflow.yaml', '--run-id', 'r1'], () => fixture.count('ran') === 6)
    fixture.write('go', '')
  }

  test('the preview of a killed map counts what is kept, pending and interrupted; --max-parallel holds for the rest', async () => {
    await killed()
    const preview = await here('resume', 'r1', '--dry-run')
    expect(preview.stdout).toContain('items of map  20 items: 4 kept, 14 pending, 2 interrupted, run again')
    expect((await here('resume', 'r1', '--max-parallel', '1')).code).toBe(0)
    expect(fixture.read('sums')).toBe('20\n')
    const limits = await fixture.ledger((ledger) => ledger.gates())
    expect(limits.find(({ key }) => key === 'queue:r1/map/items')?.state).toMatchObject({ most: 1 })
    await fixture.isClean()
  })

  test('show lists items of a killed process as pending, before those that have not begun', async () => {
    await killed()
    const page = async (...args: string[]): Promise<ItemPage> =>
      (JSON.parse((await here('show', 'r1', 'map', '--json', ...args)).stdout) as { page: ItemPage }).page
    const keysOf = ({ items }: ItemPage): string[] => items.map(({ key }) => key)
    const running = await page('--state', 'running')
    expect([running.items, running.counts.running, running.counts.pending]).toEqual([[], 0, 16])
    const pending = await page('--state', 'pending', '--limit', '3')
    expect([keysOf(pending), pending.items.map(({ state }) => state)]).toEqual([
      ['5', '6', '7'],
      Array(3).fill('pending'),
    ])
    // Page by page, whether a page ends within what was left or behind it.
    const second = await page('--state', 'pending', '--limit', '2', '--after', '0000004.5')
    expect(keysOf(second)).toEqual(['6', '7'])
    expect(keysOf(await page('--state', 'pending', '--limit', '2', '--after', second.next ?? ''))).toEqual(['8', '9'])
    const all = await page('--limit', '6')
    expect(all.items.map(({ state }) => state)).toEqual([...Array(4).fill('succeeded'), 'pending', 'pending'])
  })

  test('a map that has changed is refused, and goes on with --accept-changes', async () => {
    await killed()
    fixture.write('workflow.yaml', slow.replace('>> ran;', '>> again;'))
    const refused = await here('resume', 'r1')
    expect(refused.code).toBe(4)
    expect(refused.stderr).toContain('step map: agent_template.work.shell was')
    expect((await here('resume', 'r1', '--accept-changes')).code).toBe(0)
    expect([fixture.count('ran'), fixture.count('again')]).toEqual([6, 16])
  })

  test('cancel ends a map within about a second; what is left goes on with --reset-retries alone', async () => {
    fixture = new CliFixture(slow)
    const going = await fixture.startUntil(['run', 'workflow.yaml', '--run-id', 'r1'], () => fixture.count('ran') === 6)
    expect((await here('cancel', 'r1')).code).toBe(0)
    expect((await going.ended).code).toBe(1)
    await fixture.isClean()
    const child = await fixture.ledger((ledger) => ledger.run('r1/map'))
    expect(child).toMatchObject({ status: 'cancelled', owner: null })
    expect((await here('resume', 'r1')).code).toBe(4)
    fixture.write('go', '')
    expect((await here('resume', 'r1', '--reset-retries')).code).toBe(0)
    expect(fixture.read('sums')).toBe('20\n')
  })

  test('cancel of a map that nobody conducts ends what its killed process left running', async () => {
    fixture = new CliFixture(slow)
    await fixture.killed(['run', 'workflow.yaml', '--run-id', 'r1'], () => fixture.count('ran') === 6)
    expect((await here('cancel', 'r1')).code).toBe(0)
    await fixture.isClean()
  })

  test('clean removes a run with its maps, their gates, tallies and files, and ps lists no map as a run', async () => {
    const onError = 'on_item_error: [{ shell: "echo x >> told" }]'
    fixture = new CliFixture(
      failing('{ max_retries: 3 }', 4).replace('max_parallel: 2', `max_parallel: 2\n  ${onError}`),
    )
    fixture.write('fail', '2\n')
    expect((await fixture.reprise('run', 'workflow.yaml', '--run-id', 'r1')).code).toBe(3)
    expect(fixture.count('told')).toBe(1)
    const { runs } = JSON.parse((await here('ps', '--json')).stdout) as { runs: { id: string }[] }
    expect(runs.map(({ id }) => id)).toEqual(['r1'])
    expect((await here('doctor')).code).toBe(0)
    expect((await here('store', 'status')).code).toBe(0)
    expect((await here('clean', 'r1', '--yes')).code).toBe(0)
    const left = await fixture.ledger(async (ledger) => [
      await ledger.runs({}),
      await ledger.list({}),
      await ledger.gates(),
      await ledger.tallies({}),
      await ledger.deadLetters(),
    ])
    expect(left).toEqual([[], [], [], [], []])
    expect(fixture.has('.reprise/runs/r1')).toBe(false)
  })

  test('resume without a name finds the run, and not its map', async () => {
    await killed()
    expect((await here('resume')).code).toBe(0)
    await until(
      () => fixture.count('sums') === 1,
      () => 'reduce',
    )
  })

  test('a failed step and failed items are refused with one command, in which each flag stands once', async () => {
    const map = '{ id: m, map: { input: [a], agent_template: [{ shell: "false" }] } }'
    fixture = new CliFixture(
      `steps: [{ id: bad, shell: "false", retry: { attempts: 1, on_failure: continue } }, ${map}]`,
    )
    expect((await fixture.reprise('run', 'workflow.yaml', '--run-id', 'r1')).code).toBe(3)
    const { code, stderr } = await here('resume', 'r1')
    expect(code).toBe(4)
    expect(stderr).toContain('next: reprise resume r1 --reset-retries\n')
  })
})
