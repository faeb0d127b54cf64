/** Agents beside the process that conducts a run: they share its items, and leave them in order. Needs a build. */
import { afterEach, expect, test } from 'vitest'
import { onBothStores } from '../workflow/both-stores.js'
import { type Going, until } from '../workflow/cli-fixture.js'
import { AgentsFixture, HELD_WORK, MAP, NOTE, RUN } from './agents-fixture.js'
import { mostAtOnce } from './map-checks.js'

const HELD = `
mode: mapreduce
name: held
map:
  input: {range: [1, 40]}
  max_parallel: 4
  agent_template:
    - shell: ${NOTE}; ${HELD_WORK}
`

let cli: AgentsFixture
afterEach(() => cli.remove())

onBothStores('20: agents of a run', () => {
  test('run its items beside the process that executes it, never more than max_parallel at once', async () => {
    cli = new AgentsFixture(`
mode: mapreduce
params: {word: hello}
env: {SHOUT: "yes"}
setup:
  - {id: count, shell: seq 1 60, capture: numbers, capture_format: lines}
  - {id: bad, shell: exit 7, retry: {attempts: 1, on_failure: continue}}
map:
  input: '\${numbers}'
  max_parallel: 4
  agent_template:
    - shell: ${NOTE}; until test -e joined; do sleep 0.02; done; sleep 0.1; echo "\${item} \${word} \${steps.bad.exit_code} $SHOUT"
      capture: text
reduce:
  - shell: cp "\${map.results_file}" results
`)
    const conductor = cli.conductor()
    await cli.isServed(conductor)
    const agents = [cli.agent('one', '--parallel', '2'), cli.agent('two', '--parallel', '4')]
    for (const agent of agents) await cli.hasSaid(agent, 'Running items of map')
    cli.write('joined', '')
    const ends = await Promise.all([conductor, ...agents].map(({ ended }) => ended))
    // A step of the run has failed, and the run has gone on.
    expect(ends.map(({ code }) => code)).toEqual([3, 0, 0])
    const items = cli.starts().map(({ item }) => item)
    expect(items.toSorted()).toEqual(Array.from({ length: 60 }, (_, index) => String(index + 1)).toSorted())
    for (const who of ['conductor', 'one', 'two']) expect(cli.startsOf(who), who).not.toEqual([])
    expect(mostAtOnce(await cli.attempts())).toBeLessThanOrEqual(4)
    const results = cli.read('results').split('\n').filter(Boolean)
    const given = results.map((line) => (JSON.parse(line) as { readonly result: string }).result)
    expect(given).toEqual(Array.from({ length: 60 }, (_, index) => `${index + 1} hello 7 yes`))
  })

  test('that are asked to stop give their items back, uncharged, and end with 130 or 143', async () => {
    cli = new AgentsFixture(HELD)
    const conductor = cli.conductor()
    await cli.isServed(conductor)
    const [one, two] = (await cli.agentsWithItems(['agent-1', 'agent-2'])) as [Going, Going]
    one.child.kill('SIGINT')
    two.child.kill('SIGTERM')
    expect([(await one.ended).code, (await two.ended).code]).toEqual([130, 143])
    expect((await conductor.ended).code).toBe(0)
    for (const { id, status, progress } of await cli.items())
      expect([id, status, progress.retry.launched, progress.retry.failures]).toEqual([id, 'succeeded', 1, 0])
    const interrupted = (await cli.attempts()).filter(({ outcome }) => outcome === 'interrupted')
    expect(interrupted.length).toBeGreaterThanOrEqual(cli.starts().length - 40)
    await cli.isClean()
  })

  test('that are killed lose their items to others, which begin them again under the same number', async () => {
    cli = new AgentsFixture(HELD)
    const conductor = cli.conductor()
    await cli.isServed(conductor)
    const agent = await agentWithItem()
    agent.child.kill('SIGKILL')
    await agent.ended
    const lost = cli.startsOf('agent-1').map(({ item }) => item)
    await until(
      () => lost.every((item) => cli.startsOf('conductor').some((start) => start.item === item)),
      () => `${lost.join()} to begin again`,
      conductor,
    )
    expect((await conductor.ended).code).toBe(0)
    for (const { id, progress } of await cli.items())
      expect([id, progress.retry.launched, progress.retry.failures]).toEqual([id, 1, 0])
    const interrupted = (await cli.attempts()).filter(({ outcome }) => outcome === 'interrupted')
    expect(interrupted.map(({ attempt, failure }) => [attempt, failure])).toEqual(interrupted.map(() => [1, null]))
    // One may have been recorded as running, and not have begun.
    expect(interrupted.length).toBeGreaterThanOrEqual(lost.length)
    expect(mostAtOnce(await cli.attempts())).toBeLessThanOrEqual(4)
    await cli.isClean()
  })

  test('that are stopped for longer than their lease write nothing of what others have taken over', async () => {
    cli = new AgentsFixture(HELD)
    const conductor = cli.conductor()
    await cli.isServed(conductor)
    const agent = await agentWithItem('--lease', '600ms')
    agent.child.kill('SIGSTOP')
    const lost = cli.startsOf('agent-1').map(({ item }) => item)
    await until(
      () => lost.every((item) => cli.startsOf('conductor').some((start) => start.item === item)),
      () => `${lost.join()} to begin again`,
      conductor,
    )
    await until(
      async () => (await cli.items()).every(({ status }) => status === 'succeeded'),
      () => conductor.said(),
    )
    const before = await cli.attempts()
    agent.child.kill('SIGCONT')
    const { code, stderr } = await agent.ended
    expect([code, stderr, (await conductor.ended).code]).toEqual([0, expect.any(String), 0])
    expect(await cli.attempts()).toEqual(before)
    await cli.isClean()
  })

  test.each([
    ['less than its lease keeps its items', 1500, 0],
    ['longer than its lease loses them', 9000, 1],
  ])('whose event loop is blocked for %s', async (_what, blockMs, lost) => {
    cli = new AgentsFixture(HELD)
    const conductor = cli.conductor()
    await cli.isServed(conductor)
    cli.env['NODE_OPTIONS'] = `--import=${new URL('block-loop.mjs', import.meta.url).href}`
    cli.env['BLOCK_MS'] = String(blockMs)
    // Long enough that a busy machine does not stop it for so long by itself.
    const agent = await agentWithItem('--lease', '3s')
    // The thread that renews the lease begins a second after the agent.
    await new Promise((resolve) => setTimeout(resolve, 1500))
    agent.child.kill('SIGUSR2')
    await cli.hasSaid(agent, 'unblocked')
    cli.write('go', '')
    expect([(await agent.ended).code, (await conductor.ended).code]).toEqual([0, 0])
    const interrupted = (await cli.attempts()).filter(({ outcome }) => outcome === 'interrupted')
    expect(Math.min(interrupted.length, 1)).toBe(lost)
    for (const { id, status, progress } of await cli.items())
      expect([id, status, progress.retry.launched, progress.retry.failures]).toEqual([id, 'succeeded', 1, 0])
  })

  test('wait while no process executes the run, and continue with the next one, which leaves their items alone', async () => {
    cli = new AgentsFixture(HELD)
    const conductor = cli.conductor()
    await cli.isServed(conductor)
    const agent = await agentWithItem()
    conductor.child.kill('SIGKILL')
    await conductor.ended
    await cli.hasSaid(agent, `no process is executing run ${RUN}`)
    const before = cli.startsOf('agent-1')
    const heir = cli.as('heir', 'resume', RUN)
    await cli.hasBegun('heir', heir)
    cli.write('go', '')
    expect([(await heir.ended).code, (await agent.ended).code]).toEqual([0, 0])
    // What the agent ran when the conductor was killed has ended there: nobody began it again.
    const twice = cli.starts().filter(({ who, item }) => who === 'heir' && before.some((one) => one.item === item))
    expect(twice).toEqual([])
    for (const { id, status, progress } of await cli.items())
      expect([id, status, progress.retry.launched, progress.retry.failures]).toEqual([id, 'succeeded', 1, 0])
    expect(mostAtOnce(await cli.attempts())).toBeLessThanOrEqual(4)
    await cli.isClean()
  })

  test('leave when the run is cancelled, and what they run is ended', async () => {
    cli = new AgentsFixture(HELD)
    const conductor = cli.conductor()
    await cli.isServed(conductor)
    const agent = await agentWithItem()
    expect((await cli.reprise('cancel', RUN)).code).toBe(0)
    expect([(await agent.ended).code, (await conductor.ended).code]).toEqual([0, 1])
    expect((await cli.ledger((ledger) => ledger.countTasks(MAP))).failed).toBeUndefined()
    await cli.isClean()
  })
})

/** An agent that runs at least one item. */
function agentWithItem(...args: string[]): Promise<Going> {
  return cli.agentWithItem('agent-1', ...args)
}
