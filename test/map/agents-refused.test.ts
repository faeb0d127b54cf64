/** Agents that cannot serve a run are refused, and say why. Needs a build. */
import { mkdirSync, rmSync } from 'node:fs'
import { afterEach, describe, expect, test } from 'vitest'
import type { GateRecord, Json } from 'reprise/durable'
import { repriseInProcess } from '../workflow/cli-in-process.js'
import { until } from '../workflow/cli-fixture.js'
import { AgentsFixture, MAP, NOTE, RUN } from './agents-fixture.js'

const HELD = `
mode: mapreduce
secrets: [API_TOKEN]
map:
  input: {range: [1, 3]}
  max_parallel: 1
  agent_template:
    - shell: ${NOTE}; until test -e go; do sleep 0.02; done
`

const TOKEN = 'a-very-secret-token'

describe('an agent is refused', () => {
  let cli: AgentsFixture
  afterEach(() => cli.remove())

  async function refused(...args: string[]): Promise<{ code: number | null; stderr: string }> {
    const { code, stderr } = await repriseInProcess(cli, 'agent', ...args)
    return { code, stderr }
  }

  test('without a secret that the document names, which is named', async () => {
    cli = new AgentsFixture(HELD)
    cli.env['API_TOKEN'] = TOKEN
    const conductor = cli.conductor()
    await cli.isServed(conductor)
    delete cli.env['API_TOKEN']
    const { code, stderr } = await refused(RUN)
    expect([code, stderr]).toEqual([2, expect.stringMatching(/API_TOKEN/)])
    cli.write('go', '')
    expect((await conductor.ended).code).toBe(0)
  })

  test('if the run is executed by another version, and both are named', async () => {
    cli = new AgentsFixture(HELD)
    cli.env['API_TOKEN'] = TOKEN
    const conductor = cli.conductor()
    await cli.isServed(conductor)
    await cli.ledger((ledger) =>
      ledger.transact({ tasks: [], gates: [`queue:${MAP}/items`] }, (view) => {
        const gate = view.gate(`queue:${MAP}/items`) as GateRecord
        const state = gate.state as { readonly serving: object }
        const changed = { ...state, serving: { ...state.serving, version: '0.0.7' } } as unknown as Json
        return { gates: [{ ...gate, state: changed }], result: undefined }
      }),
    )
    const { code, stderr } = await cli.agent('agent').ended
    expect([code, stderr]).toEqual([4, expect.stringMatching(/reprise 0\.0\.7 .*and this is reprise \d+\.\d+\.\d+/)])
    expect(cli.startsOf('agent')).toEqual([])
    cli.write('go', '')
    expect((await conductor.ended).code).toBe(0)
  })

  test('if the directory of the run is not there, unless it is given another one', async () => {
    cli = new AgentsFixture(
      HELD.replace('secrets: [API_TOKEN]\n', '').replace('until test -e go', 'until test -e "$GO"'),
    )
    cli.env['GO'] = cli.path('go')
    mkdirSync(cli.path('flows'))
    mkdirSync(cli.path('here'))
    cli.write('flows/workflow.yaml', cli.read('workflow.yaml'))
    const conductor = cli.as('conductor', 'run', 'flows/workflow.yaml', '--run-id', RUN)
    await until(
      () => cli.read('flows/starts') !== '' || cli.read('starts') !== '',
      () => conductor.said(),
      conductor,
    )
    conductor.child.kill('SIGKILL')
    await conductor.ended
    const { cwd } = await cli.ledger(async (ledger) => (await ledger.run(RUN))?.detail as { readonly cwd: string })
    if (cwd !== cli.directory) rmSync(cwd, { recursive: true })
    const gone = cwd === cli.directory ? ['--cwd', cli.path('nowhere')] : []
    const { code, stderr } = await refused(RUN, ...gone)
    expect([code, stderr]).toEqual([2, expect.stringMatching(/is not there[\s\S]*--cwd DIR/)])
    const agent = cli.agent('agent', '--cwd', cli.path('here'))
    await cli.hasSaid(agent, `no process is executing run ${RUN}`)
    agent.child.kill('SIGINT')
    expect((await agent.ended).code).toBe(130)
  })

  test('if the run has no map, or is not there, or is not named', async () => {
    cli = new AgentsFixture('steps: [{id: one, shell: "true"}]')
    expect((await cli.conductor().ended).code).toBe(0)
    expect(await refused(RUN)).toEqual({ code: 4, stderr: expect.stringContaining('has no map') })
    expect(await refused('r9')).toEqual({ code: 4, stderr: expect.stringContaining('no run r9') })
    expect((await refused()).code).toBe(2)
  })

  test.each([
    [['--parallel', '0'], '--parallel'],
    [['--parallel', 'many'], '--parallel'],
    [['--lease', 'soon'], '--lease'],
    [['--metrics-port', '99999'], '--metrics-port'],
    [['--max-parallel', '3'], '--max-parallel'],
  ])('with %j, and says what is wrong', async (args, named) => {
    cli = new AgentsFixture(HELD)
    const { code, stderr } = await refused(RUN, ...args)
    expect([code, stderr]).toEqual([2, expect.stringContaining(named)])
  })

  test('no more if the run has ended: there is nothing left to do', async () => {
    cli = new AgentsFixture(HELD.replace('secrets: [API_TOKEN]\n', ''))
    cli.write('go', '')
    expect((await cli.conductor().ended).code).toBe(0)
    const { code, stderr, stdout } = await repriseInProcess(cli, 'agent', RUN, '--json')
    expect([code, stderr]).toEqual([0, expect.stringContaining('has ended: succeeded')])
    expect(JSON.parse(stdout)).toEqual({
      run: RUN,
      reason: 'run_ended',
      state: 'succeeded',
      attempts: { succeeded: 0, failed: 0, interrupted: 0 },
    })
  })
})
