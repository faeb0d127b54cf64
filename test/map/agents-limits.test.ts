/** Limits, stops and changed documents hold for agents as for the process that executes the run. Needs a build. */
import { readFileSync } from 'node:fs'
import { afterEach, expect, test } from 'vitest'
import type { RunView } from '@reprise/workflow'
import { onBothStores } from '../workflow/both-stores.js'
import { type Going, until } from '../workflow/cli-fixture.js'
import { repriseInProcess } from '../workflow/cli-in-process.js'
import { AgentsFixture, HELD_WORK, MAP, NOTE, RUN } from './agents-fixture.js'

let cli: AgentsFixture
afterEach(() => cli.remove())

async function both(document: string): Promise<{ conductor: Going; agent: Going }> {
  cli = new AgentsFixture(document)
  const conductor = cli.conductor()
  await cli.isServed(conductor)
  return { conductor, agent: await cli.agentWithItem('agent') }
}

onBothStores('agents', () => {
  test('share max_retries and the failed item that stops the map, exactly', async () => {
    cli = new AgentsFixture(`
mode: mapreduce
map:
  input: {range: [1, 40]}
  max_parallel: 4
  agent_template:
    - shell: ${NOTE}; until test -e joined; do sleep 0.02; done; sleep 0.3; exit 9
error_policy:
  max_failures: 20
  max_retries: 7
  item_retry: {attempts: 3, initial_delay: 20ms}
`)
    const conductor = cli.conductor()
    await cli.isServed(conductor)
    const agents = [cli.agent('agent-1', '--parallel', '4'), cli.agent('agent-2', '--parallel', '4')]
    for (const agent of agents) await cli.hasSaid(agent, 'Running items of map')
    cli.write('joined', '')
    const [end, ...others] = await Promise.all([conductor, ...agents].map(({ ended }) => ended))
    expect([end?.code, others.map(({ code }) => code)]).toEqual([1, [0, 0]])
    const items = await cli.items()
    const charged = items.reduce((sum, { progress }) => sum + (progress.allotted ?? 0), 0)
    expect(charged).toBe(7)
    const failed = items.filter(({ status }) => status === 'failed').length
    // What ran when the twentieth failed may end: 4 at a time.
    expect(failed).toBeGreaterThanOrEqual(20)
    expect(failed).toBeLessThanOrEqual(23)
    expect(cli.startsOf('agent-1').length + cli.startsOf('agent-2').length).toBeGreaterThan(0)
    const { total, ...states } = (await cli.show(RUN)).steps[0]?.map?.counts ?? { total: 0 }
    expect(Object.values(states).reduce((sum, count) => sum + count, 0)).toBe(total)
    expect(total).toBe(40)
  })

  test('end their items at once when a map with halt: now stops', async () => {
    const { conductor, agent } = await both(`
mode: mapreduce
map:
  input: {range: [1, 60]}
  max_parallel: 4
  agent_template:
    - shell: ${NOTE}; ${HELD_WORK}; test ! -e bad
error_policy: {on_item_failure: stop, halt: now}
`)
    cli.write('bad', '')
    expect([(await conductor.ended).code, (await agent.ended).code]).toEqual([1, 0])
    const counts = await cli.ledger((ledger) => ledger.countTasks(MAP))
    expect(counts.running).toBeUndefined()
    expect(counts.failed).toBeLessThanOrEqual(4)
    for (const { item } of cli.startsOf('agent')) {
      const task = (await cli.items()).find(({ id }) => id.endsWith(`.${item}`))
      expect([item, task?.status, task?.progress.retry.failures]).toEqual([item, 'waiting', 0])
    }
    await cli.isClean()
  })

  test('take a changed document from the process that accepted it, and give back what they ran by the old one', async () => {
    const document = `
mode: mapreduce
map:
  input: {range: [1, 30]}
  max_parallel: 4
  agent_template:
    - shell: ${NOTE}; ${HELD_WORK}; echo "$WHO OLD" >> seen
error_policy: {item_retry: {attempts: 2}}
`
    const { conductor, agent } = await both(document)
    conductor.child.kill('SIGKILL')
    await conductor.ended
    const begun = cli.startsOf('agent').map(({ item }) => item)
    cli.write('workflow.yaml', document.replaceAll('OLD', 'NEW').replace('attempts: 2', 'attempts: 4'))
    const heir = cli.as('heir', 'resume', RUN, '--accept-changes')
    await until(
      () => agent.said().split('Running items of map').length === 3,
      () => `the agent to join again; it said ${agent.said()}`,
      agent,
    )
    cli.write('go', '')
    expect([(await heir.ended).code, (await agent.ended).code]).toEqual([0, 0])
    expect(cli.read('seen')).toContain('agent NEW')
    const attempts = await cli.attempts()
    for (const item of begun) {
      const rows = attempts.filter(({ id }) => id.endsWith(`.${item}`))
      const ends = rows.map(({ attempt, execution, outcome }) => [attempt, execution, outcome])
      expect([item, ends]).toEqual([
        item,
        [
          [1, 1, 'interrupted'],
          [1, 2, 'success'],
        ],
      ])
    }
    for (const { id, status, progress } of await cli.items())
      expect([id, status, progress.retry.failures]).toEqual([id, 'succeeded', 0])
  })

  test('join a map that begins later, leave before the steps after the last one, and are shown meanwhile', async () => {
    cli = new AgentsFixture(`
steps:
  - id: first
    map:
      input: {range: [1, 8]}
      agent_template: [{shell: '${NOTE}; until test -e first; do sleep 0.02; done; echo "$REPRISE_ITEM_KEY"', capture: text}]
  - {id: between, shell: 'until test -e between; do sleep 0.02; done'}
  - id: second
    map:
      input: {range: [11, 40]}
      max_parallel: 4
      agent_template: [{shell: '${NOTE}; echo "\${steps.first.succeeded}" >> figures; ${HELD_WORK}'}]
  - {id: after, shell: 'until test -e after; do sleep 0.02; done'}
`)
    const conductor = cli.conductor()
    await cli.isServed(conductor)
    const agent = cli.agent('agent', '--parallel', '4')
    await cli.hasSaid(agent, 'Running items of first')
    cli.write('first', '')
    await cli.hasSaid(agent, 'no map of the run has items to run now')
    cli.write('between', '')
    await cli.hasSaid(agent, 'Running items of second')
    cli.write('joined', '')
    await until(
      () => cli.startsOf('agent').some(({ item }) => Number(item) > 10),
      () => `an item of the second map; it said ${agent.said()}`,
      agent,
    )
    const { map } = (await cli.show(RUN)).steps.find(({ id }) => id === 'second') ?? {}
    expect(map?.agents).toEqual([expect.objectContaining({ pid: agent.child.pid, slots: 4 })])
    const { stdout } = await repriseInProcess(cli, 'show', RUN)
    expect(stdout).toContain(`1 agent runs items too: process ${agent.child.pid} on `)
    const listed = (await repriseInProcess(cli, 'ps')).stdout.replaceAll(/\s+/g, ' ')
    expect(listed).toContain(`agent ${agent.child.pid}`)
    const { runs } = JSON.parse((await repriseInProcess(cli, 'ps', '--json')).stdout) as { runs: RunView[] }
    expect(runs.map(({ agents }) => agents.map(({ pid }) => pid))).toEqual([[agent.child.pid]])
    const watch = cli.start('watch', RUN)
    await cli.hasSaid(watch, `, agent ${agent.child.pid} on `)
    cli.write('go', '')
    expect((await agent.ended).code).toBe(0)
    expect(conductor.child.exitCode).toBe(null)
    cli.write('after', '')
    expect((await conductor.ended).code).toBe(0)
    expect((await watch.ended).code).toBe(0)
    expect(new Set(cli.read('figures').split('\n').filter(Boolean))).toEqual(new Set(['8']))
  })

  test('leave the output of their items where logs finds it', async () => {
    const { conductor, agent } = await both(`
mode: mapreduce
map:
  input: {range: [1, 20]}
  max_parallel: 4
  keep_logs: all
  agent_template:
    - shell: ${NOTE}; echo "by $WHO"; ${HELD_WORK}
`)
    cli.write('go', '')
    expect([(await conductor.ended).code, (await agent.ended).code]).toEqual([0, 0])
    const [{ item } = { item: '' }] = cli.startsOf('agent')
    const { code, stdout } = await repriseInProcess(cli, 'logs', RUN, 'map', item)
    expect([code, stdout]).toEqual([0, expect.stringContaining('by agent')])
    const { logs } = JSON.parse((await repriseInProcess(cli, 'logs', RUN, 'map', item, '--json')).stdout) as {
      readonly logs: readonly { readonly path: string }[]
    }
    expect(readFileSync(logs[0]?.path ?? '', 'utf8')).toContain('by agent')
  })
})
