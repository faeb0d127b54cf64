/** A map in working trees, killed at named places between two calls of git, and resumed. Needs a build. */
import { afterEach, describe, expect, test } from 'vitest'
import { CliFixture } from '../workflow/cli-fixture.js'
import { GitScene } from './git-scene.js'

const RUN = 'r1'
const ITEMS = ['a', 'b', 'c']

const WORKFLOW = `
mode: mapreduce
map:
  input: [a, b, c]
  isolation: worktree
  max_parallel: 1
  agent_template:
    - shell: |
        echo "\${item} $REPRISE_ATTEMPT" >> "$REPRISE_RUN_DIRECTORY/starts"
        proof="proof-\${item}-$$"
        echo x > "$proof"; echo "$proof" >> "$REPRISE_RUN_DIRECTORY/proofs"
        echo "more of \${item}" >> \${item}.txt
        echo "result of \${item}"
      capture: text
merge:
  - shell: cat ?.txt > all
`

/** Of each: at which item it happens, since the items run one after the other, and whether that item runs again. */
const PLACES: readonly (readonly [pattern: string, when: 'before' | 'after', runsAgain: boolean])[] = [
  ['worktree add', 'before', true],
  ['worktree add', 'after', true],
  ['checkout --quiet -b', 'after', true],
  ['add --all', 'before', true],
  ['commit --quiet', 'before', true],
  ['commit --quiet', 'after', true],
  ['commit-tree', 'after', true],
  ['/merged ', 'before', true],
  ['/merged ', 'after', false],
  ['update-ref -d refs/heads/*/000000', 'before', false],
  ['update-ref -d refs/heads/*/000000', 'after', false],
  ['merge --quiet --ff-only', 'before', false],
  ['merge --quiet --ff-only', 'after', false],
]

describe('a map in working trees that is killed', () => {
  let cli: CliFixture
  afterEach(() => cli.remove())

  test.each(PLACES)(
    'at `git %s`, %s it, merges every item once and loses no work',
    async (pattern, when, runsAgain) => {
      cli = new CliFixture(WORKFLOW)
      const fixture = new GitScene(cli, Object.fromEntries(ITEMS.map((item) => [`${item}.txt`, `${item}\n`])))
      fixture.killAt(pattern, when)
      expect((await cli.reprise('run', 'workflow.yaml', '--run-id', RUN)).signal).toBe('SIGKILL')
      const { code, stderr } = await cli.reprise('resume', RUN)
      expect(stderr).not.toMatch(/bug/)
      expect([code, stderr]).toEqual([0, stderr])
      expect(cli.read('all')).toBe('a\nmore of a\nb\nmore of b\nc\nmore of c\n')
      expect(fixture.merged()).toEqual(['0000000.a', '0000001.b', '0000002.c'])
      expect(fixture.trees()).toBe(0)
      const committed = fixture.everCommitted()
      for (const proof of cli.read('proofs').split('\n').filter(Boolean)) expect(committed).toContain(proof)
      // Work that was merged is on no branch any more; what an execution had done that was repeated is.
      expect(fixture.branches().every((name) => name.endsWith('-1.1.1'))).toBe(true)
      const starts = cli.read('starts').split('\n').filter(Boolean)
      const ranBefore = starts.length > ITEMS.length
      expect(ranBefore).toBe(runsAgain && !/worktree add|checkout/.test(pattern))
      // What the item gave is there, though the process that ran it could not record it.
      const results = cli.read(`.reprise/runs/${RUN}/map/results.ndjson`)
      for (const item of ITEMS) expect(results).toContain(`"result":"result of ${item}"`)
      const tasks = await cli.ledger((ledger) => ledger.list({ scope: `${RUN}/map` }))
      expect(tasks.map(({ progress }) => progress.retry.launched)).toEqual([1, 1, 1])
    },
  )

  test('at the merge of a batch merges it once, and keeps what each of its items gave', async () => {
    cli = new CliFixture(`
mode: mapreduce
map:
  input: [{id: a}, {id: b}, {id: c}]
  isolation: worktree
  batch: 3
  agent_template:
    - shell: |
        echo start >> "$REPRISE_RUN_DIRECTORY/starts"
        [ "$REPRISE_BATCH_SIZE" = 1 ] && touch new-c && exit 0
        for name in a b; do echo "$name" > "new-$name"; echo "{\\"key\\":\\"$name\\",\\"result\\":\\"of $name\\"}" >> "$REPRISE_RESULTS"; done
        echo '{"key":"c","error":"not now"}' >> "$REPRISE_RESULTS"
error_policy: {item_retry: {attempts: 2, initial_delay: 1ms}}
`)
    const fixture = new GitScene(cli, { 'a.txt': 'a\n' })
    fixture.killAt('/merged ', 'after')
    expect((await cli.reprise('run', 'workflow.yaml', '--run-id', RUN)).signal).toBe('SIGKILL')
    const { code } = await cli.reprise('resume', RUN)
    expect(code).toBe(0)
    expect(fixture.merged()).toEqual(['0000000.a', '0000001.b', '0000002.c'])
    const results = cli.read(`.reprise/runs/${RUN}/map/results.ndjson`).split('\n').filter(Boolean)
    expect(results.map((line) => (JSON.parse(line) as { result: unknown }).result)).toEqual(['of a', 'of b', null])
    // The batch, then what it had not merged.
    expect(cli.count('starts')).toBe(2)
    expect([cli.has('new-a'), cli.has('new-b'), cli.has('new-c')]).toEqual([true, true, true])
  })

  test('leaves trees that clean finds, whose work it keeps on a branch', async () => {
    cli = new CliFixture(WORKFLOW)
    const fixture = new GitScene(cli, Object.fromEntries(ITEMS.map((item) => [`${item}.txt`, `${item}\n`])))
    fixture.killAt('add --all', 'before')
    await cli.reprise('run', 'workflow.yaml', '--run-id', RUN)
    expect(fixture.trees()).toBe(1)
    const dry = await cli.reprise('clean', '--dry-run')
    expect(dry.stderr).toMatch(/^1 working tree of processes that are gone would be removed\.$/m)
    expect(fixture.trees()).toBe(1)
    const { code, stderr } = await cli.reprise('clean', '--yes')
    expect(code).toBe(0)
    expect(stderr).toMatch(/^1 working tree of processes that are gone is removed\.$/m)
    const [, branch = ''] = /^Work that was not merged is on branch (\S+)\.$/m.exec(stderr) ?? []
    expect(fixture.git('show', `${branch}:a.txt`)).toBe('a\nmore of a')
    expect(fixture.trees()).toBe(0)
    const json = JSON.parse((await cli.reprise('clean', '--json')).stdout) as { trees: unknown; branches: unknown }
    expect([json.trees, json.branches]).toEqual([[], []])
    // The run goes on without the tree.
    expect((await cli.reprise('resume', RUN)).code).toBe(0)
    expect(fixture.merged()).toHaveLength(3)
  })

  test('leaves alone the trees of a process that lives', async () => {
    cli = new CliFixture(
      WORKFLOW.replace('echo x >', 'while [ ! -e "$REPRISE_RUN_DIRECTORY/go" ]; do sleep 0.05; done; echo x >'),
    )
    const fixture = new GitScene(cli, Object.fromEntries(ITEMS.map((item) => [`${item}.txt`, `${item}\n`])))
    const going = await cli.startUntil(['run', 'workflow.yaml', '--run-id', RUN], () => cli.has('starts'))
    expect((await cli.reprise('clean', '--yes')).stderr).not.toMatch(/working tree/)
    expect(fixture.trees()).toBe(1)
    cli.write('go', '')
    expect((await going.ended).code).toBe(0)
  })
})
