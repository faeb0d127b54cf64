/** How maps begin: whether they are wanted, and where their items come from. */
import { existsSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { loadWorkflow } from '@reprise/workflow'
import { startRun } from '@reprise/workflow/internal'
import { type MapDocument, MapFixture, noting } from './map-fixture.js'

describe('a map', () => {
  let fixture: MapFixture
  beforeEach(async () => void (fixture = await MapFixture.in('sqlite')))
  afterEach(() => fixture.remove())
  const mapFiles = () => readdirSync(path.join(fixture.directory, 'state/runs/import-1/map'))

  const withWhen = (when: string, map: object = {}): MapDocument => ({
    steps: [
      { id: 'count', shell: 'echo many', capture: 'n' },
      { id: 'each', when, map: { input: [1, 2], agent_template: [{ shell: noting() }] }, ...map },
      { id: 'after', shell: 'echo "${steps.each.total} ${steps.each.failed}" >> sums' },
    ],
  })

  test('whose when makes no sense of the values has failed, as a step has', async () => {
    expect(await fixture.run(withWhen('int(n) > 3'))).toBe('failed')
    expect(fixture.end).toMatchObject({ step: 'each', state: 'failed', failure: { retryable: false } })
    expect(fixture.end.failure?.message).toMatch(/^when: /)
    const run = await fixture.look((ledger) => ledger.run('import-1'))
    expect(run).toMatchObject({ status: 'failed', owner: null })
    expect(fixture.lines('starts')).toEqual([])
    await fixture.resume(withWhen('n != "3"'), { acceptChanges: true })
    expect(fixture.lines('sums')).toEqual(['2 0'])
  })

  test('whose when makes no sense of the values is passed over with on_failure: continue', async () => {
    expect(await fixture.run(withWhen('int(n) > 3', { on_failure: 'continue' }))).toBe('completed_with_failures')
    expect(fixture.lines('sums')).toEqual(['0 0'])
  })

  test('that is skipped has no items for later steps, also after a resume', async () => {
    const document: MapDocument = {
      steps: [
        { id: 'each', when: 'false', map: { input: [1], agent_template: [{ shell: 'true' }] } },
        { id: 'after', shell: 'echo "${steps.each.total} ${steps.each.results}" >> sums; [ -e go ] || sleep 60' },
      ],
    }
    const stop = new AbortController()
    const timer = setInterval(() => fixture.lines('sums').length > 0 && stop.abort(), 10)
    expect(await fixture.run(document, { signal: stop.signal })).toBe('interrupted')
    clearInterval(timer)
    fixture.write('go', '')
    expect(await fixture.resume(document)).toBe('succeeded')
    expect(fixture.lines('sums')).toEqual(['0 []', '0 []'])
  })

  test('that has begun is not skipped by a resume whose environment makes when false', async () => {
    const document: MapDocument = {
      steps: [
        {
          id: 'each',
          when: 'env.WANTED == "yes"',
          map: { input: [1, 2], max_parallel: 1, agent_template: [{ shell: noting('[ -e go ] || sleep 60') }] },
        },
      ],
    }
    const stop = new AbortController()
    const timer = setInterval(() => fixture.lines('starts').length > 0 && stop.abort(), 10)
    const env = { ...process.env, WANTED: 'yes' }
    expect(await fixture.run(document, { env, signal: stop.signal })).toBe('interrupted')
    clearInterval(timer)
    fixture.write('go', '')
    expect(await fixture.resume(document, { env: { ...env, WANTED: 'no' } })).toBe('succeeded')
    expect(fixture.end.counts).toMatchObject({ succeeded: 2 })
  })

  test('whose standard input gives nothing is stopped at once', async () => {
    const stop = new AbortController()
    let hasBegun = (): void => undefined
    const begun = new Promise<void>((resolve) => (hasBegun = resolve))
    const text = JSON.stringify({
      name: 'import',
      mode: 'mapreduce',
      map: { input: { stdin: true }, agent_template: [{ shell: noting() }] },
    })
    const plan = await loadWorkflow(text, { file: path.join(fixture.directory, 'import.yaml') })
    const { directory } = fixture
    async function* silent(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('a\n')
      hasBegun()
      await new Promise(() => undefined)
    }
    const ended = startRun(
      plan,
      { runId: 'import-1', params: {}, cwd: directory, documentDir: directory },
      {
        store: fixture.store,
        stateDirectory: path.join(directory, 'state'),
        env: {},
        signal: stop.signal,
        maps: { stdin: silent },
      },
    )
    await begun
    stop.abort()
    expect((await ended).state).toBe('interrupted')
    const run = await fixture.look((ledger) => ledger.run('import-1/map'))
    expect(run).toMatchObject({ status: 'interrupted', owner: null })
  })

  test('whose command runs is stopped with the command', async () => {
    const stop = new AbortController()
    const timer = setInterval(() => fixture.lines('begun').length > 0 && stop.abort(), 10)
    const command = '[ -e go ] || { echo x >> begun; sleep 60; }; echo a'
    const document = { map: { input: { command }, agent_template: [{ shell: noting() }] } }
    expect(await fixture.run(document, { signal: stop.signal })).toBe('interrupted')
    clearInterval(timer)
    fixture.write('go', '')
    expect(await fixture.resume(document)).toBe('succeeded')
    expect(fixture.lines('starts')).toEqual(['a 1'])
  })

  test('gives its command an idempotency key that is its own in every run', async () => {
    const template = [{ shell: 'echo "${item}" >> keys' }]
    const document = { map: { input: { command: 'echo $REPRISE_IDEMPOTENCY_KEY' }, agent_template: template } }
    await fixture.run(document)
    await fixture.run(document, { runId: 'import-2' })
    const [first, second] = fixture.lines('keys')
    expect(first).toMatch(/^[0-9a-f-]{36}\/map$/)
    expect(second).not.toBe(first)
  })

  test('shares neither log nor idempotency key with a step that is named after it', async () => {
    const say = 'echo "$REPRISE_IDEMPOTENCY_KEY" >> keys; echo >&2'
    const map = { input: { command: `${say} "the input"; echo a` }, agent_template: [{ shell: 'true' }] }
    const steps = [
      { id: 'each.input', shell: `${say} "the step"` },
      { id: 'each', map },
    ]
    expect(await fixture.run({ steps })).toBe('succeeded')
    expect(new Set(fixture.lines('keys')).size).toBe(2)
    const log = (step: string): string => fixture.read(`state/runs/import-1/${step}/1.1.1.log`)
    expect([log('each.input'), log('each')]).toEqual(['the step\n', expect.stringContaining('the input\n')])
  })

  test('leaves nothing of a secret in the record of its input or in files', async () => {
    const env = { ...process.env, ITEM_TOKEN: 'hunter2-hunter2' }
    fixture.write('hunter2-hunter2.txt', 'a\n')
    const secrets = ['ITEM_TOKEN']
    const agent_template = [{ shell: noting(), when: 'int(env.ITEM_TOKEN) > 3' }]
    await fixture.run({ secrets, map: { input: '${env.ITEM_TOKEN}.txt', agent_template } }, { env })
    const ofFile = await fixture.look(async (ledger) => [
      await ledger.run('import-1/map'),
      await ledger.list({ scope: 'import-1/map' }),
    ])
    expect(JSON.stringify(ofFile)).not.toContain('hunter2')
    await fixture.run(
      { secrets, map: { input: { command: 'echo $ITEM_TOKEN' }, agent_template: [{ shell: 'true' }] } },
      { env, runId: 'import-2' },
    )
    const directory = path.join(fixture.directory, 'state/runs/import-2/map')
    expect(existsSync(path.join(directory, 'results.ndjson'))).toBe(true)
    expect(readdirSync(directory)).not.toContain('input')
  })

  test('tells of a changed input by its path of now, though a secret in it is masked in the record', async () => {
    const env = { ...process.env, ITEM_TOKEN: 'hunter2-hunter2' }
    fixture.write('hunter2-hunter2.txt', 'a\nb\n')
    const document: MapDocument = {
      secrets: ['ITEM_TOKEN'],
      map: {
        input: '${env.ITEM_TOKEN}.txt',
        max_parallel: 1,
        agent_template: [{ shell: noting('[ -e go ] || sleep 60') }],
      },
    }
    const stop = new AbortController()
    const timer = setInterval(() => fixture.lines('starts').length > 0 && stop.abort(), 10)
    await fixture.run(document, { env, signal: stop.signal })
    clearInterval(timer)
    fixture.write('go', '')
    await fixture.resume(document, { env })
    expect(fixture.told('map_note')).toEqual([])
    expect(mapFiles()).toContain('results.ndjson')
  })

  test('stops for an exit code of halt_on also if a fallback of its template ends with it', async () => {
    const state = await fixture.run({
      map: {
        input: [1, 2],
        max_parallel: 1,
        agent_template: [
          { shell: noting('exit 3'), retry: { attempts: 1, on_failure: { fallback: { command: 'exit 255' } } } },
        ],
      },
      error_policy: { halt_on: [255], item_retry: { attempts: 3, initial_delay: '1ms' } },
    })
    expect(state).toBe('failed')
    expect(fixture.lines('starts')).toEqual(['1 1'])
  })
})
