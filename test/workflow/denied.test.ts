/** A step that a gate has denied: which gate it was and its own word, and what helps. Needs a build. */
import { afterEach, describe, expect, test } from 'vitest'
import { CliFixture } from './cli-fixture.js'

let fixture: CliFixture
afterEach(() => fixture.remove())

const RUN = ['run', 'workflow.yaml', '--run-id', 'r1']
const STEP = 'shell: echo broken >&2; exit 1'

describe('a budget', () => {
  const WORKFLOW = `
budgets: { few: { type: count, total: 1 } }
steps: [{ id: work, ${STEP}, retry: { attempts: 5, backoff: fixed, initial_delay: 1ms, budget: few } }]
`
  test('is named with its word in the line of the step, in the last line, by show and in its page', async () => {
    fixture = new CliFixture(WORKFLOW)
    const { stderr } = await fixture.reprise(...RUN)
    const denial = 'budget few@r1 denied the attempt: count_exhausted'
    expect(stderr).toContain(
      `FAILED work after 2 attempts (budget_denied): ${denial}; before that: exit code 1: broken\n`,
    )
    expect(stderr).toMatch(/\nFAILED: .*: step work: budget few@r1 denied the attempt: count_exhausted/)
    expect((await fixture.reprise('show', 'r1')).stdout).toContain(denial)
    const page = (await fixture.reprise('show', 'r1', 'work')).stdout
    expect(page).toContain(denial)
    expect(page).toContain('Budget few@r1 denied attempt 3: count_exhausted')
    const { steps } = await fixture.show('r1')
    expect(steps[0]?.failure?.denial).toEqual({ gate: 'budget:few@r1', reason: 'count_exhausted' })
  })

  test('is to be looked at before fresh attempts, which ask it again', async () => {
    fixture = new CliFixture(WORKFLOW)
    const { stderr } = await fixture.reprise(...RUN)
    expect(stderr).toMatch(/next: reprise budgets list +what budget few@r1 has left.*\n.*--reset-retries/)
    expect((await fixture.reprise('resume', 'r1')).stderr).toMatch(/next: reprise budgets list\n.*--reset-retries/s)
    const grant = ['budgets', 'grant', 'few@r1', '--amount', '4', '--reason', 'test']
    expect((await fixture.reprise(...grant)).code).toBe(0)
    await fixture.reprise('resume', 'r1', '--reset-retries')
    expect((await fixture.show('r1')).steps[0]).toMatchObject({ attempts: 5, stopReason: 'attempts_exhausted' })
  })
})

describe('an open breaker', () => {
  const WORKFLOW = `
breakers: { shop: { failure_threshold: 2, recovery_timeout: 1h } }
steps: [{ id: work, shell: 'echo x >> ran; test -e up', retry: { attempts: 5, initial_delay: 1ms, breaker: shop } }]
`
  test('is named as one that runs share, with the wait or the reset that is needed before fresh attempts', async () => {
    fixture = new CliFixture(WORKFLOW)
    const { stderr } = await fixture.reprise(...RUN)
    expect(stderr).toContain('(breaker_open): breaker shop is open, which all runs of the store share')
    const next = stderr.split('\n').filter((line) => line.startsWith('next:'))
    expect(next.map((line) => line.replace(/^next: | {2}.*/g, ''))).toEqual([
      'reprise show r1',
      'reprise breakers list',
      'reprise breakers reset shop',
      'reprise resume r1 --reset-retries',
    ])
    const refused = (await fixture.reprise('resume', 'r1')).stderr
    expect(refused).toMatch(/next: reprise breakers list\n.*reprise breakers reset shop\n.*--reset-retries/s)
    expect((await fixture.reprise('breakers', 'list')).stdout).toContain('All runs of the store share them')
  })

  test('denies another run at once, and what is proposed there helps', async () => {
    fixture = new CliFixture(WORKFLOW)
    await fixture.reprise(...RUN)
    fixture.write('up', '')
    const { code, stderr } = await fixture.reprise('run', 'workflow.yaml', '--run-id', 'r2')
    expect([code, fixture.count('ran')]).toEqual([1, 2])
    expect(stderr).toContain('Breaker shop is open: attempt 1 was not started')
    const proposed = stderr.split('\n').flatMap((line) => /^next: reprise (.*?)(?: {2}|$)/.exec(line)?.[1] ?? [])
    for (const command of proposed) await fixture.reprise(...command.split(' '))
    expect((await fixture.show('r2')).state).toBe('succeeded')
  })
})
