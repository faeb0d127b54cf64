import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { attemptView, EVIL, EXIT_75, runDetail, stepView } from '../testing/sample-run.js'
import { junitOf, junitOfError } from './junit.js'

const directory = mkdtempSync(path.join(tmpdir(), 'reprise-junit-'))
afterAll(() => rmSync(directory, { recursive: true }))

/** Throws unless every tag is closed in order, and no text holds what XML cannot. Answers with the tags, as they open. */
function tagsOf(xml: string): string[] {
  const names: string[] = []
  const open: string[] = []
  // oxlint-disable-next-line no-control-regex -- controls are what is looked for
  expect(xml).not.toMatch(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/u)
  const parts = xml.replace(/^<\?xml[^>]*\?>/, '').split(/(<\/?[\w-]+(?: [\w-]+="[^"<]*")*\/?>)/)
  for (const part of parts) {
    const [, closing, name = '', , single] = /^<(\/?)([\w-]+)((?: [\w-]+="[^"<]*")*)(\/?)>$/.exec(part) ?? []
    if (name === '') {
      expect(part).not.toMatch(/[<>]|&(?!amp;|lt;|gt;|quot;)/)
    } else if (closing === '/') expect(open.pop()).toBe(name)
    else {
      names.push(name)
      if (single !== '/') open.push(name)
    }
  }
  expect(open).toEqual([])
  return names
}

const report = (...given: Parameters<typeof junitOf>): string => [...junitOf(...given)].join('')

test('there is a test case for each step, with its time, attempts and failure', () => {
  const log = path.join(directory, 'send.log')
  writeFileSync(log, 'connecting\nno route\n')
  const xml = report(
    runDetail(
      [
        stepView('fetch', { state: 'recovered', attempts: 3, activeMs: 250, waitedMs: 3000, history: [] }),
        stepView('send', {
          ...{ name: 'Send it', state: 'failed', attempts: 5, stopReason: 'attempts_exhausted', failure: EXIT_75 },
          history: [attemptView(5, { log })],
        }),
        stepView('notify', { state: 'skipped', attempts: 0, startedAtMs: null, endedAtMs: null, history: [] }),
        stepView('report', { state: 'pending', attempts: 0, startedAtMs: null, endedAtMs: null, history: [] }),
      ],
      { state: 'failed', activeMs: 7000, waitedMs: 60_000, downMs: 5000 },
    ),
  )
  expect(tagsOf(xml).filter((name) => name === 'testcase')).toHaveLength(4)
  expect(xml).toContain(
    '<testsuite name="import" tests="4" failures="1" errors="0" skipped="2" time="7.000" timestamp="2026-01-31T12:00:00">',
  )
  expect(xml).toContain('<testcase classname="import" name="fetch" time="0.250">')
  expect(xml).toContain('<property name="waited" value="60.000"/>\n<property name="down" value="5.000"/>')
  expect(xml).toContain('<property name="attempts" value="3"/>')
  expect(xml).toContain(
    '<failure message="exit code 75: no route" type="attempts_exhausted">5 attempts\nevery attempt failed (attempts_exhausted)\nno route\nsecond line</failure>',
  )
  expect(xml).toContain('<system-out>connecting\nno route</system-out>')
  expect(xml).toContain('<skipped message="not run"/>')
})

test('what did not come to an end is an error', () => {
  const steps = (['running', 'retrying', 'parked', 'undecided', 'cancelled'] as const).map((state) =>
    stepView(state, { state, endedAtMs: null, history: [] }),
  )
  const xml = report(runDetail(steps, { state: 'interrupted', endedAtMs: null, activeMs: 5000 }))
  tagsOf(xml)
  expect(xml).toContain('tests="5" failures="0" errors="5" skipped="0" time="5.000"')
  expect(xml).toContain('<error message="retrying" type="retrying">')
})

test('a step that was interrupted is an error, though it runs again at the next resume', () => {
  const step = stepView('x', { state: 'interrupted', endedAtMs: null, history: [] })
  expect(report(runDetail([step], { state: 'interrupted' }))).toContain('<error message="interrupted"')
})

test.each([EVIL, '<a href="x">&amp;</a>', ']]>', '\ud800 lone', '\u0000\ufffe', 'a\nb'])(
  'whatever steps are called and say, it is well-formed: %j',
  (evil) => {
    const log = path.join(directory, 'evil.log')
    writeFileSync(log, `${evil}\n${evil}`)
    const step = stepView('x', {
      ...{ name: evil, state: 'failed', failure: { name: evil, message: evil }, stopReason: 'not_retryable' },
      history: [attemptView(1, { log })],
    })
    tagsOf(report(runDetail([step], { name: evil, id: evil })))
    tagsOf([...junitOfError(evil, evil, evil)].join(''))
  },
)

test('of a long output only the end is kept, and where the rest is', () => {
  const log = path.join(directory, 'long.log')
  writeFileSync(log, 'x'.repeat(1000).concat('\n').repeat(1000))
  const xml = report(runDetail([stepView('x', { history: [attemptView(1, { log })] })]))
  expect(xml.length).toBeLessThan(20_000)
  expect(xml).toContain(`… the end of ${log}`)
})

test('a run of which nothing is known is one error', () => {
  const xml = [...junitOfError('import', 'nightly-7', 'the disk is full')].join('')
  expect(tagsOf(xml)).toEqual(['testsuites', 'testsuite', 'testcase', 'error'])
  expect(xml).toContain('message="the disk is full"')
})
