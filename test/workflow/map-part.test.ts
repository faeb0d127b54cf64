/** A part of the items of a map, its input from stdin, and its job log, by the command line as a process. Needs a build. */
import { afterEach, expect, test } from 'vitest'
import { bin, CliFixture } from './cli-fixture.js'
import { onBothStores } from './both-stores.js'

onBothStores('a part of a map', () => {
  let fixture: CliFixture
  afterEach(() => fixture.remove())

  const map = (input: string, more = ''): string => `
name: import
mode: mapreduce
setup: [{ id: prepare, shell: "echo x >> prepared" }]
map:
  input: ${input}
  agent_template: [{ shell: 'echo "\${item.key}" >> ran' }]
${more}
reduce: [{ id: sum, shell: "echo \${map.succeeded} >> sums" }]
`

  const ran = (): string[] => fixture.read('ran').split('\n').filter(Boolean).toSorted()

  test('19: --sample runs the first items, leaves the others pending and reduce alone, and a resume does the rest', async () => {
    fixture = new CliFixture(map('{ range: [1, 12] }'))
    const { code, stderr } = await fixture.reprise('run', 'workflow.yaml', '--run-id', 'r1', '--sample', '3')
    expect(code).toBe(0)
    expect(ran()).toEqual(['1', '2', '3'])
    expect(fixture.has('sums')).toBe(false)
    expect(stderr.trimEnd().split('\n').at(-1)).toBe('9 items wait. Run the rest with: reprise resume r1')
    const preview = await fixture.reprise('resume', 'r1', '--dry-run', '--json')
    expect(JSON.parse(preview.stdout)).toMatchObject({
      preview: { kept: 1, pending: 1, maps: [{ map: 'map', total: 12, kept: 3, pending: 9, interrupted: 0 }] },
    })
    expect((await fixture.reprise('resume', 'r1')).code).toBe(0)
    expect(ran()).toHaveLength(12)
    expect(new Set(ran()).size).toBe(12)
    expect(fixture.read('sums')).toBe('12\n')
    expect(fixture.count('prepared')).toBe(1)
  })

  test('19: --only and --where choose by key and by condition, together', async () => {
    fixture = new CliFixture(map('[{ id: a, size: 1 }, { id: b, size: 20 }, { id: c, size: 30 }]'))
    const flags = ['--only', 'a', '--only', 'b', '--where', 'item.size > 10']
    expect((await fixture.reprise('run', 'workflow.yaml', ...flags)).code).toBe(0)
    expect(ran()).toEqual(['b'])
  })

  test('a part that is all of it is a whole map: reduce runs', async () => {
    fixture = new CliFixture(map('[a, b]'))
    expect((await fixture.reprise('run', 'workflow.yaml', '--sample', '5')).code).toBe(0)
    expect(fixture.read('sums')).toBe('2\n')
  })

  test('--only with a key that no item has names a near one, and no item runs', async () => {
    fixture = new CliFixture(map('[order-1, order-2]'))
    const { code, stderr } = await fixture.reprise('run', 'workflow.yaml', '--run-id', 'r1', '--only', 'ordr-2')
    expect(code).toBe(1)
    expect(stderr).toContain('--only: no item has the key "ordr-2" (did you mean "order-2"?)')
    expect(ran()).toEqual([])
    // The next process does not know which part was asked for: it does not run all items instead.
    const resumed = await fixture.reprise('resume', 'r1')
    expect(resumed.code).toBe(1)
    expect(resumed.stderr).toContain('only a part of the items was asked for')
    expect(fixture.read('ran')).toBe('')
  })

  test.each([
    [['--where', 'item.size >'], '--where'],
    [['--sample', '0'], '--sample 0 is no whole number of 1 or more'],
    [['--max-parallel', 'many'], '--max-parallel many is no whole number of 1 or more'],
    [['--joblog', 'no/such/directory.tsv'], 'the job log cannot be written'],
  ])('%j is refused before anything runs', async (flags, message) => {
    fixture = new CliFixture(map('[a]'))
    const { code, stderr } = await fixture.reprise('run', 'workflow.yaml', ...flags)
    expect([code, fixture.has('prepared')]).toEqual([2, false])
    expect(stderr).toContain(message)
  })

  test('a flag for maps is refused for a workflow without one', async () => {
    fixture = new CliFixture('steps: [{ shell: "echo x >> ran" }]')
    const { code, stderr } = await fixture.reprise('run', 'workflow.yaml', '--sample', '3')
    expect([code, fixture.has('ran')]).toEqual([2, false])
    expect(stderr).toContain('--sample is about the items of a map')
  })

  test('--joblog has a line for each attempt of an item', async () => {
    fixture = new CliFixture(
      map('[a, b]', 'error_policy: { item_retry: { attempts: 2, initial_delay: 1ms } }').replace(
        '>> ran',
        '>> ran; test ${item} = a',
      ),
    )
    expect((await fixture.reprise('run', 'workflow.yaml', '--joblog', 'jobs.tsv')).code).toBe(3)
    const [head, ...lines] = fixture
      .read('jobs.tsv')
      .trimEnd()
      .split('\n')
      .map((line) => line.split('\t'))
    expect(head).toEqual(['item', 'attempt', 'started', 'seconds', 'outcome', 'exit', 'error'])
    expect(lines.map(([item, attempt, , , , exit]) => `${item} ${attempt} ${exit}`).toSorted()).toEqual([
      '0000000.a 1 0',
      '0000001.b 1 1',
      '0000001.b 2 1',
    ])
  })

  test('18: items come from stdin, also those that are left at a resume', async () => {
    fixture = new CliFixture(map('{ stdin: true }'))
    const program = `printf 'a\\nb\\nc\\n' | "${process.execPath}" "${bin}" run workflow.yaml --run-id r1 --sample 1`
    expect((await fixture.startProgram('bash', ['-c', program]).ended).code).toBe(0)
    expect((await fixture.reprise('resume', 'r1')).code).toBe(0)
    expect(ran()).toEqual(['a', 'b', 'c'])
  })

  test('a workflow and its items cannot both be read from stdin', async () => {
    fixture = new CliFixture(map('{ stdin: true }'))
    const program = `"${process.execPath}" "${bin}" run - < workflow.yaml`
    const { code, stderr } = await fixture.startProgram('bash', ['-c', program]).ended
    expect([code, fixture.has('prepared')]).toEqual([2, false])
    expect(stderr).toContain('both read from stdin')
  })

  test('19: --dry-run lists items and counts and runs nothing; --json lists all of them', async () => {
    fixture = new CliFixture(map('{ range: [1, 30] }'))
    const people = await fixture.reprise('run', 'workflow.yaml', '--dry-run', '--where', 'item > 5')
    expect(people.stdout).toContain('items of map: 30 items, 25 would run and 5 wait for a resume')
    expect(people.stdout).toContain('0000005.6')
    expect(people.stdout).toContain('… and 5 more; --json lists all of them')
    const all = await fixture.reprise('run', 'workflow.yaml', '--dry-run', '--json', '--sample', '2')
    const { maps } = JSON.parse(all.stdout) as { maps: { items: unknown[] }[] }
    expect(maps).toMatchObject([{ map: 'map', total: 30, chosen: 2, why: null }])
    expect(maps[0]?.items).toHaveLength(30)
    expect(fixture.has('prepared')).toBe(false)
  })

  test('--dry-run says why items are not known, and refuses an input that is wrong', async () => {
    fixture = new CliFixture(map('made.json'))
    const later = await fixture.reprise('run', 'workflow.yaml', '--dry-run')
    expect(later.code).toBe(0)
    expect(later.stdout).toContain('not known yet, made.json is not there; a step before the map may write it')
    fixture.write('workflow.yaml', map('{ command: "echo x >> prepared" }'))
    const command = await fixture.reprise('run', 'workflow.yaml', '--dry-run')
    expect(command.stdout).toContain('the output of a command')
    expect(fixture.has('prepared')).toBe(false)
    fixture.write('workflow.yaml', map('{ command: "exit 3" }'))
    const failed = await fixture.reprise('run', 'workflow.yaml')
    expect([failed.code, failed.stderr]).toEqual([1, expect.stringContaining('the command of `input`: exit code 3')])
    fixture.write('workflow.yaml', map('broken.json'))
    fixture.write('broken.json', '[1, 2')
    const broken = await fixture.reprise('run', 'workflow.yaml', '--dry-run')
    expect(broken.code).toBe(2)
    expect(broken.stderr).toContain('broken.json')
  })
})
