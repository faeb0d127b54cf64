/** Steps that poll: `until` is looked at after each attempt, and decides nothing that the policy does not. Needs a build. */
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { CliFixture } from './cli-fixture.js'

let cli: CliFixture
afterEach(() => cli.remove())

const RUN = ['run', 'workflow.yaml', '--run-id', 'r1']

/** Notes each look, and is ready at the third. `more`: further fields of the step. */
const POLL = (more = '', retry = 'attempts: 5, backoff: fixed, initial_delay: 1ms'): string => `
steps:
  - id: poll
    shell: |
      echo look >> looks
      n=$(wc -l < looks)
      if [ "$n" -ge 3 ]; then echo '{"state": "ready"}'; else echo '{"state": "pending"}'; fi
    capture: answer
    capture_format: json
    until: answer.state == "ready" && steps.poll.exit_code == 0
    retry: { ${retry} }
    ${more}
  - { id: after, shell: 'echo "\${answer.state} \${steps.poll.attempts}" > after' }
`

test('a step is retried until its condition is true, and its last answer is what later steps see', async () => {
  cli = new CliFixture(POLL())
  const { code, stderr } = await cli.reprise(...RUN)
  expect(code, stderr).toBe(0)
  expect([cli.count('looks'), cli.read('after')]).toEqual([3, 'ready 3\n'])
  expect(stderr).toContain(
    'Retrying poll (attempt 2/5) after 1ms: not yet: answer.state == "ready" && steps.poll.exit_code == 0 (answer is {"state":"pending"})',
  )
  const { steps } = await cli.show('r1')
  expect(steps[0]?.state).toBe('recovered')
  const failed = steps[0]?.history?.[0]?.failure
  expect([failed?.name, failed?.code]).toEqual(['UntilError', 'until'])
})

test('a false condition is retried although `retry_on` lists nothing that fits it, and other failures are not', async () => {
  const only = 'attempts: 5, backoff: fixed, initial_delay: 1ms, retry_on: [{ exit_code: [75] }]'
  cli = new CliFixture(POLL('', only))
  expect((await cli.reprise(...RUN)).code).toBe(0)
  cli.write('workflow.yaml', POLL('', only).replace('echo look >> looks', 'echo look >> looks; exit 3'))
  cli.write('looks', '')
  expect((await cli.reprise('run', 'workflow.yaml', '--run-id', 'r2')).code).toBe(1)
  expect(cli.count('looks')).toBe(1)
})

test('a condition that stays false ends the step when its attempts are used up, and `on_failure` follows', async () => {
  const fallback = 'attempts: 2, initial_delay: 1ms, on_failure: { fallback: { command: "echo {}" } }'
  cli = new CliFixture(POLL('', fallback).replaceAll('answer.state} ', 'steps.poll.exit_code} '))
  const { code, stderr } = await cli.reprise(...RUN)
  expect(code, stderr).toBe(0)
  expect(stderr).toContain('FAILED poll after 2 attempts (attempts_exhausted): not yet: answer.state')
  // What stands in for the step is not asked to meet its condition.
  expect(stderr).toContain('ok fallback of poll')
})

test('no breaker counts a false condition, closed or half-open', async () => {
  const closed = 'breakers: { api: { failure_threshold: 2, recovery_timeout: 1h } }'
  cli = new CliFixture(`${closed}${POLL('', 'attempts: 5, backoff: fixed, initial_delay: 20ms, breaker: api')}`)
  const { code, stderr } = await cli.reprise(...RUN)
  expect(code, stderr).toBe(0)
  expect(cli.count('looks')).toBe(3)
  // Two failures open the breaker; the looks that follow are its probes, and each of them gives its slot back.
  cli.write('looks', '')
  const failing = POLL('', 'attempts: 9, backoff: fixed, initial_delay: 20ms, breaker: web')
    .replace('echo look >> looks', 'echo look >> looks; [ $(wc -l < looks) -gt 2 ] || exit 3')
    .replace('-ge 3', '-ge 5')
  cli.write('workflow.yaml', `breakers: { web: { failure_threshold: 2, recovery_timeout: 1ms } }${failing}`)
  const second = await cli.reprise('run', 'workflow.yaml', '--run-id', 'r2')
  expect(second.code, second.stderr).toBe(0)
  expect(cli.count('looks')).toBe(5)
})

test('killed between two looks, the resume goes on polling with the attempts that are left', async () => {
  cli = new CliFixture(POLL('', 'attempts: 3, backoff: fixed, initial_delay: 1h, max_delay: 1h'))
  await cli.killed(RUN, () => cli.waits('poll', 1))
  const going = await cli.startUntil(['resume', 'r1'], () => cli.waits('poll', 1))
  expect((await cli.reprise('retry-now', 'r1', 'poll')).code).toBe(0)
  for (let tries = 0; !(await cli.waits('poll', 2)); tries++) expect(tries).toBeLessThan(10_000)
  expect((await cli.reprise('retry-now', 'r1', 'poll')).code).toBe(0)
  const { code, stderr } = await going.ended
  expect(code, stderr).toBe(0)
  expect([cli.count('looks'), cli.read('after')]).toEqual([3, 'ready 3\n'])
})

test('a condition that makes no sense of the answer fails the step at once', async () => {
  cli = new CliFixture(POLL().replace('answer.state == "ready" &&', 'answer.status == "ready" &&'))
  const { code, stderr } = await cli.reprise(...RUN)
  expect(code).toBe(1)
  expect(cli.count('looks')).toBe(1)
  expect(stderr).toContain('until: ')
  expect(stderr).toContain('status')
})

test('a step of a template polls by its own policy, also with `retry_on`', async () => {
  cli = new CliFixture(`
steps:
  - id: all
    map:
      input: [a, b]
      max_parallel: 1
      agent_template:
        - id: poll
          shell: echo x >> "looks-\${item}"; wc -l < "looks-\${item}"
          capture: looks
          capture_format: number
          until: looks >= 3
          retry: { attempts: 4, backoff: fixed, initial_delay: 1ms, retry_on: [network] }
`)
  const { code, stderr } = await cli.reprise(...RUN)
  expect(code, stderr).toBe(0)
  expect([cli.count('looks-a'), cli.count('looks-b')]).toEqual([3, 3])
})

test('a secret in the answer is masked in what is said of it', async () => {
  cli = new CliFixture(`
secrets: [TOKEN]
steps:
  - { id: poll, shell: 'echo "$TOKEN"', capture: answer, until: answer == "x" }
`)
  cli.env['TOKEN'] = 'hunter2-hunter2'
  const { code, stdout, stderr } = await cli.reprise(...RUN)
  expect(code).toBe(1)
  expect(stdout + stderr).not.toContain('hunter2')
  expect(stderr).toContain('not yet: answer == "x" (answer is "***")')
})

test('nothing of a long secret is kept or said, although what is said of the answer is cut', async () => {
  cli = new CliFixture(`
secrets: [TOKEN]
steps:
  - id: poll
    shell: 'echo "$TOKEN"'
    capture: out
    until: out == "ok"
    retry: { attempts: 2, initial_delay: 1ms, on_failure: continue }
  - id: listed
    shell: 'printf "[\\"%s\\"]" "$TOKEN"'
    capture: list
    capture_format: json
    until: list.size() > 1
`)
  // No part of it is like another, and no part occurs by chance.
  cli.env['TOKEN'] = Array.from({ length: 60 }, (_, index) => `q${1000 + index}`).join('')
  const { code, stdout, stderr } = await cli.reprise(...RUN, '--ndjson')
  expect(code).toBe(1)
  const events = await cli.reprise('events', 'r1', '--ndjson')
  const shown = await cli.reprise('show', 'r1', '--json')
  expect(events.stdout).toContain('not yet: out == \\"ok\\" (out is \\"***\\")')
  expect(events.stdout).toContain('(list is [\\"***\\"])')
  const files = readdirSync(cli.directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  expect(files.some(({ name }) => name.endsWith('.log'))).toBe(true)
  const kept = files.map(({ parentPath, name }) => readFileSync(path.join(parentPath, name), 'latin1'))
  const said = [stdout, stderr, events.stdout, shown.stdout]
  expect([...kept, ...said].filter((text) => text.includes('q1000'))).toEqual([])
})

test('a misspelt name, a number that is text, and one attempt are told before anything runs', async () => {
  cli = new CliFixture(POLL().replace('answer.state ==', 'anwser.state =='))
  const misspelt = await cli.reprise('validate', 'workflow.yaml')
  expect(misspelt.code).toBe(2)
  expect(misspelt.stderr + misspelt.stdout).toContain('did you mean `answer`?')
  cli.write('workflow.yaml', 'steps: [{ id: poll, shell: ./n, capture: n, until: n > 3 }]')
  const text = await cli.reprise('validate', 'workflow.yaml')
  expect(text.code).toBe(2)
  expect(text.stderr + text.stdout).toContain('`n` is text, and is compared with a number')
  cli.write('workflow.yaml', 'steps: [{ id: poll, shell: ./n, capture: n, until: n == "3" }]')
  const once = await cli.reprise('validate', 'workflow.yaml')
  expect(once.code).toBe(0)
  expect(once.stderr + once.stdout).toContain('`until` is looked at once')
})

test('`run --dry-run` and `explain` show the condition', async () => {
  cli = new CliFixture(POLL())
  const plan = await cli.reprise('run', 'workflow.yaml', '--dry-run', '--json')
  expect(JSON.parse(plan.stdout)).toMatchObject({ steps: [{ until: expect.stringContaining('answer.state') }, {}] })
  const shown = await cli.reprise('explain', 'workflow.yaml', 'poll')
  expect(shown.stdout.replaceAll(/\s+/g, ' ')).toContain('while this is false: answer.state == "ready"')
})

test('a changed condition is a change that a resume must be told to accept', async () => {
  cli = new CliFixture(POLL('', 'attempts: 3, initial_delay: 1h, max_delay: 1h'))
  await cli.killed(RUN, () => cli.waits('poll', 1))
  cli.write('workflow.yaml', cli.read('workflow.yaml').replace('"ready" &&', '"done" &&'))
  const { code, stderr } = await cli.reprise('resume', 'r1')
  expect(code).toBe(4)
  expect(stderr).toContain('until')
})
