/** Agents of a map with batches and in working trees: they share places, and merge into one branch. Needs a build. */
import { afterEach, expect, test } from 'vitest'
import { AgentsFixture, RUN } from './agents-fixture.js'
import { GitScene } from './git-scene.js'

let cli: AgentsFixture
afterEach(() => cli.remove())

const WAIT = 'until test -e "$REPRISE_RUN_DIRECTORY/joined"; do sleep 0.02; done; sleep 0.3'

test.each([1, 3])('20, 21: merge every item once, with batches of %d', { timeout: 120_000 }, async (batch) => {
  // Enough for several rounds of all places: the process that came first takes the first one alone.
  const count = 18 * batch
  const items = batch === 1 ? 'echo "${item}"' : `sed 's/.*"value":\\([0-9]*\\).*/\\1/' "$REPRISE_ITEMS_FILE"`
  cli = new AgentsFixture(`
mode: mapreduce
map:
  input: {range: [1, ${count}]}
  batch: ${batch}
  max_parallel: 4
  isolation: worktree
  agent_template:
    - shell: |
        for one in $(${items}); do echo "$WHO" > "file-$one"; echo "$WHO $one 1" >> "$REPRISE_RUN_DIRECTORY/starts"; done
        ${WAIT}
`)
  const fixture = new GitScene(cli, { README: 'begin\n' })
  const conductor = cli.conductor()
  await cli.isServed(conductor)
  const agent = cli.agent('agent-1', '--parallel', '4')
  await cli.hasSaid(agent, 'Running items of map')
  cli.write('joined', '')
  const ends = await Promise.all([conductor, agent].map(({ ended }) => ended))
  expect(
    ends.map(({ code }) => code),
    ends.map(({ stderr }) => stderr).join(),
  ).toEqual([0, 0])
  expect(fixture.merged()).toHaveLength(count)
  expect(new Set(fixture.merged()).size).toBe(count)
  for (const who of ['conductor', 'agent-1']) expect(cli.startsOf(who), who).not.toEqual([])
  for (let item = 1; item <= count; item++) expect(cli.has(`file-${item}`), String(item)).toBe(true)
  expect(fixture.trees()).toBe(0)
  const run = await cli.ledger((ledger) => ledger.run(RUN))
  expect(run?.status).toBe('succeeded')
})
