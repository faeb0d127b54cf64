/**
 * On a terminal: whatever steps, files and arguments say, nothing but our own sequences reaches it; and when it closes,
 * the run stops in order. A terminal of its own comes from `script`. Needs a build.
 */
import { afterEach, describe, expect, test } from 'vitest'
import { hasTerminal, onTerminal, withTerminal } from './on-terminal.js'
import { type Ended, CliFixture, until } from './cli-fixture.js'

let fixture: CliFixture
afterEach(() => fixture.remove())

/** What a terminal would obey: titles, clipboard, links, clearing, moving, colours, bells, turned text. */
const EVIL = [
  '\u001b]0;EVIL-title\u0007',
  '\u001b]52;c;RVZJTA==\u001b\\',
  '\u001b]8;;http://evil.example\u001b\\link\u001b]8;;\u001b\\',
  '\u001b[2J\u001b[1;1H',
  '\u001b[35;5mmagenta\u001b[0m',
  '\u001bPq#0\u001b\\',
  '\u001bc',
  '\u009b35m\u009d0;EVIL\u009c',
  '\u0007\b\b\b\u007f',
  '\u202eturned\u202c\u2066x\u2069\u200f',
].join(' then ')

/** Lines, colours, the live picture: what we write ourselves. */
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const OWN = /\u001b\[(?:1|2|22|31|32|33|36|39)m|\u001b\[(?:\d+A|K|J|\?7l|\?7h)|\r?\n|\r/g
const FORBIDDEN = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u

/** JSON in which no control character stands as it is, so that it may be a file of ours. */
function escaped(value: unknown): string {
  const escape = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  return JSON.stringify(value).replaceAll(/[\u007f-\u009f]/g, escape)
}

function expectHarmless(what: string, { stdout }: Ended): void {
  const rest = stdout.replaceAll(OWN, ' ')
  const at = rest.search(FORBIDDEN)
  const around = JSON.stringify(rest.slice(Math.max(0, at - 60), at + 60))
  expect([what, at < 0 ? 'harmless' : around]).toEqual([what, 'harmless'])
  expect(stdout.length).toBeGreaterThan(0)
}

describe.skipIf(!hasTerminal)('a terminal', () => {
  test(withTerminal('obeys nothing of what steps say, and of what they are called'), { timeout: 60_000 }, async () => {
    fixture = new CliFixture()
    const steps = [
      { name: `first ${EVIL}`, shell: 'cat evil; cat evil >&2; sleep 0.3; cat evil >&2; exit 7' },
      { name: 'second', shell: 'cat evil', capture: 'said' },
      { name: `third ${EVIL}`, run: ['sh', '-c', 'echo "$1" >&2; exit 1', 'sh', '${said}'] },
      { name: 'fourth', script: { module: './evil.mjs' } },
      { name: 'fifth', shell: 'cat evil >&2; exit 1', retry: { attempts: 1, on_failure: 'stop' } },
    ]
    const retry = { attempts: 2, initial_delay: '150ms', on_failure: 'continue' }
    fixture.write('evil', `${EVIL}\n`)
    fixture.write(
      'evil.mjs',
      `export default () => { throw Object.assign(new Error(${JSON.stringify(EVIL)}), { name: ${JSON.stringify(EVIL)} }) }`,
    )
    fixture.write('evil.json', escaped({ name: `flow ${EVIL}`, retry_defaults: retry, steps }))
    const live = await onTerminal(fixture, 'run', 'evil.json', '--run-id', 'r1').ended
    // It was live.
    expect(live.stdout).toContain('\u001b[?7l')
    expectHarmless('run', live)
    const commands = [
      ['run', 'evil.json', '-v'],
      ['run', 'evil.json', '--dry-run'],
      ['run', 'evil.json', '--ndjson'],
      ['show', 'r1'],
      ['show', 'r1', '--json'],
      ['show', 'r1', '1'],
      ['logs', 'r1'],
      ['events', 'r1'],
      ['ps'],
      ['watch', 'r1'],
      ['resume', 'r1'],
    ]
    await Promise.all(
      commands.map(async (command) => expectHarmless(command.join(' '), await onTerminal(fixture, ...command).ended)),
    )
  })

  test(withTerminal('obeys nothing of wrong files and wrong arguments'), async () => {
    fixture = new CliFixture('steps: [{ id: a, shell: "true" }]')
    fixture.write('evil.yaml', `steps: [{ id: ${JSON.stringify(EVIL)}, shell: 1, ${JSON.stringify(EVIL)}: 2 }]\n`)
    fixture.write('raw.yaml', `steps: ${EVIL}\n`)
    await fixture.reprise('run', 'workflow.yaml', '--run-id', 'r1')
    const commands = [
      ['validate', 'evil.yaml', 'raw.yaml'],
      ['run', 'workflow.yaml', '--param', `${EVIL}=1`],
      ['run', EVIL],
      ['show', EVIL],
      ['logs', 'r1', EVIL],
      [EVIL],
      ['exec', '--', `./${EVIL}`],
    ]
    await Promise.all(
      commands.map(async (command) =>
        expectHarmless(JSON.stringify(command).slice(0, 40), await onTerminal(fixture, ...command).ended),
      ),
    )
  })

  test(withTerminal('that closes stops the run in order, and it goes on elsewhere'), async () => {
    fixture = new CliFixture('steps: [{ id: work, shell: "echo x >> ran; echo said; test -e go || sleep 60" }]')
    const going = onTerminal(fixture, 'run', 'workflow.yaml', '--run-id', 'r1')
    await until(
      () => fixture.count('ran') === 1,
      () => `the step; it said ${going.said()}`,
      going,
    )
    going.child.kill('SIGKILL')
    await going.ended
    await fixture.isClean()
    // Given up, rather than lost.
    const run = await fixture.ledger((ledger) => ledger.run('r1'))
    expect([run?.status, run?.owner]).toEqual(['interrupted', null])
    fixture.write('go', '')
    expect((await fixture.reprise('resume', 'r1')).code).toBe(0)
    expect((await fixture.show('r1')).steps[0]?.history.map(({ outcome }) => outcome)).toEqual([
      'interrupted',
      'success',
    ])
  })
})
