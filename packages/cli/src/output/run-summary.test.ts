import { DEFAULT_STORE } from '@reprise/workflow/internal'
import { expect, test } from 'vitest'
import { attemptView, EVIL, EXIT_75, PIPE, REFUSED, runDetail, stepView, terminal } from '../testing/sample-run.js'
import { commandWords } from './next-commands.js'
import { runSummary } from './run-summary.js'
import { textWidth } from './width.js'

const recovered = stepView('load', {
  state: 'recovered',
  attempts: 3,
  waitedMs: 3000,
  history: [
    attemptView(1, { outcome: 'failure', failure: REFUSED }),
    attemptView(2, { outcome: 'failure', failure: EXIT_75 }),
    attemptView(3),
  ],
})
const failed = stepView('send', {
  state: 'failed',
  attempts: 5,
  waitedMs: 7000,
  stopReason: 'attempts_exhausted',
  failure: EXIT_75,
  log: 'logs/send-5.log',
  history: [attemptView(5, { outcome: 'failure', failure: EXIT_75 })],
})
const undecided = stepView('charge', { state: 'undecided', attempts: 2, stopReason: 'interrupted', history: [] })
const RAN_OUT = { state: 'failed', stopReason: 'attempts_exhausted', failedStep: 'send' } as const

const text = (...args: Parameters<typeof runSummary>): string => `\n${runSummary(...args).join('\n')}\n`

test('a failed run says what recovered, what failed and why, where the log is, and what to type', () => {
  expect(text(runDetail([stepView('fetch'), recovered, failed], { ...RAN_OUT, resumes: 1 }), PIPE)).toBe(`
Recovered:
  load  at attempt 3/5, waited 3s, after exit code 75: no route

Failed:
  send  5 attempts, waited 7s: every attempt failed (attempts_exhausted)
        exit code 75: no route
        log: logs/send-5.log

next: reprise logs nightly-7 send               its output
next: reprise show nightly-7                    every step and attempt
next: reprise resume nightly-7 --reset-retries  retry the failed steps

FAILED: import, run nightly-7, took 1m12s, resumed 1× (1 FAILED, 1 ok, 1 recovered): step send: every attempt failed (attempts_exhausted)
`)
})

test('a run that went well says so in a line', () => {
  expect(text(runDetail([stepView('fetch')]), PIPE)).toBe(`
succeeded: import, run nightly-7, took 1m12s (1 ok)
`)
})

test('a run that went on after a failure says what failed', () => {
  const lines = runSummary(runDetail([failed], { state: 'completed_with_failures' }), PIPE)
  expect(lines).toContain('Failed:')
  expect(lines.at(-1)).toBe('completed with failures: import, run nightly-7, took 1m12s (1 FAILED)')
})

test('a step that a fallback stands in for says so', () => {
  const standIn = stepView('send.fallback', { name: 'fallback of send' })
  const lines = runSummary(runDetail([failed, standIn]), PIPE)
  expect(lines).toContain('        its fallback ran instead')
  const broken = { ...standIn, state: 'failed' as const }
  expect(runSummary(runDetail([failed, broken], RAN_OUT), PIPE)).not.toContain('        its fallback ran instead')
})

test('an interrupted run ends with the command to resume', () => {
  const steps = [stepView('fetch'), stepView('load', { state: 'retrying', endedAtMs: null })]
  expect(text(runDetail(steps, { state: 'interrupted', endedAtMs: null }), PIPE)).toBe(`
interrupted: import, run nightly-7, took 1m12s (1 ok, 1 retrying)
Resume with: reprise resume nightly-7
`)
})

test('an undecided step asks for a decision', () => {
  expect(text(runDetail([undecided], { state: 'interrupted' }), PIPE)).toBe(`
Undecided:
  charge  attempt 2/5 was interrupted, and it is not known whether it took effect

next: reprise logs nightly-7 charge            its output
next: reprise resume nightly-7 --done charge   if it took effect
next: reprise resume nightly-7 --rerun charge  if it did not

interrupted: import, run nightly-7, took 1m12s (1 undecided)
Resume with: reprise resume nightly-7
`)
})

test('quiet says how a run ended that did not succeed', () => {
  const quiet = { ...PIPE, quiet: true }
  expect(runSummary(runDetail([stepView('fetch')]), quiet)).toEqual([])
  expect(runSummary(runDetail([failed], RAN_OUT), quiet)).toEqual([
    'FAILED: import, run nightly-7, took 1m12s (1 FAILED): step send: every attempt failed (attempts_exhausted)',
  ])
  expect(runSummary(runDetail([], { state: 'interrupted' }), quiet).at(-1)).toContain('reprise resume')
})

test('of very many the first are listed, and where the others are', () => {
  const many = Array.from({ length: 50 }, (_, index) => ({ ...recovered, id: `s${index}`, name: `s${index}` }))
  const lines = runSummary(runDetail(many), PIPE)
  expect(lines).toContain('  … and 30 more: reprise show nightly-7')
  expect(lines.filter((line) => line.includes('at attempt'))).toHaveLength(20)
  const all = runSummary(runDetail(many), { ...PIPE, verbose: true })
  expect(all.filter((line) => line.includes('at attempt'))).toHaveLength(50)
})

test('commands to type name the store, unless it is found without, and are safe in a shell', () => {
  const words = ['resume', "it's; rm -rf ."]
  expect(commandWords({ store: 'sqlite:x.db' }, {})(words)).toBe(
    String.raw`reprise resume 'it'\''s; rm -rf .' --store sqlite:x.db`,
  )
  expect(commandWords({ store: 'sqlite:x.db' }, { REPRISE_STORE: 'sqlite:x.db' })(['ps'])).toBe('reprise ps')
  expect(commandWords({ store: 'sqlite:.reprise/ledger.db' }, {})(['ps'])).toBe('reprise ps')
})

test('commands to type start the program as it was started', () => {
  const ps = (env: Record<string, string>): string => commandWords({ store: DEFAULT_STORE }, env)(['ps'])
  expect(ps({ npm_command: 'exec', PATH: '/srv/app/node_modules/.bin:/usr/bin' })).toBe('npx reprise ps')
  expect(ps({ npm_lifecycle_event: 'nightly' })).toBe('npx reprise ps')
  expect(ps({ npm_execpath: '/usr/lib/npm-cli.js' })).toBe('reprise ps')
  // Not installed, but fetched: `reprise` would be the library, which has no program.
  expect(ps({ npm_command: 'exec', PATH: '/srv/cache/_npx/ab12/node_modules/.bin' })).toBe('npx @reprise/cli ps')
})

test('a report fits a narrow window, and no word of it is broken', () => {
  const long = { ...failed, name: 'a-step-with-a-rather-long-name', failure: { ...REFUSED, message: 'no '.repeat(50) } }
  for (const columns of [40, 60, 80, 200]) {
    const lines = runSummary(runDetail([recovered, long], RAN_OUT), terminal(columns))
    for (const line of lines) expect(textWidth(line), line).toBeLessThanOrEqual(columns)
    const words = lines.join(' ').split(/\s+/)
    for (const word of ['(attempts_exhausted)', 'nightly-7', '--reset-retries', 'logs/send-5.log'])
      expect(words.some((one) => one.startsWith(word))).toBe(true)
  }
})

test('what a terminal would obey is not in a summary', () => {
  const evil = { ...failed, name: EVIL, id: EVIL, failure: { name: EVIL, message: EVIL } }
  const lines = runSummary(runDetail([evil, { ...recovered, name: EVIL }], { ...RAN_OUT, name: EVIL, id: EVIL }), PIPE)
  for (const line of lines) expect(line).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e]/u)
})
