/** Completion in real shells: the same answers in each. A shell that is not installed is skipped by name. Needs a build. */
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CompletionRig, hasShell, SHELLS } from './shells.js'

const WORKFLOW = `
name: nightly
breakers: { warehouse: { failure_threshold: 2, recovery_timeout: 1h } }
steps:
  - { name: fetch, shell: echo hi }
  - { name: load, shell: exit 1, retry: { attempts: 1, breaker: warehouse, on_failure: continue } }
`

let rig: CompletionRig
beforeAll(() => {
  rig = new CompletionRig()
  writeFileSync(path.join(rig.directory, 'flow.yaml'), WORKFLOW)
  writeFileSync(path.join(rig.directory, 'flow two.yaml'), WORKFLOW)
  expect(rig.run('run', 'flow.yaml', '--run-id', 'nightly-7').status).toBe(3)
  expect(rig.run('run', 'flow.yaml', '--run-id', 'other', '--store', 'sqlite:other.db').status).toBe(3)
}, 60_000)
afterAll(() => rig.end())

/** The line, and what it is completed with. */
const CASES: readonly (readonly [line: string, candidates: readonly string[]])[] = [
  ['reprise val', ['validate']],
  ['reprise store ', ['backup', 'migrate', 'restore', 'status']],
  ['reprise --json store ba', ['backup']],
  ['reprise --store sqlite:other.db store mi', ['migrate']],
  ['reprise ps --st', ['--state', '--store']],
  ['reprise ps --state ', ['cancelled', 'completed_with_failures', 'failed', 'interrupted', 'running', 'succeeded']],
  ['reprise ps --state inter', ['interrupted']],
  ['reprise ps --color ', ['always', 'auto', 'never']],
  ['reprise schema ', ['job', 'policy', 'workflow']],
  ['reprise completion ', ['bash', 'fish', 'zsh']],
  ['reprise init --template ', ['job', 'library', 'mapreduce', 'shell']],
  ['reprise explain --backoff ', ['exponential', 'fibonacci', 'fixed', 'linear']],
  ['reprise exec --jitter de', ['decorrelated']],
  ['reprise simulate --fault ov', ['overload']],
  ['reprise show ', ['nightly-7']],
  ['reprise show --store sqlite:other.db ', ['other']],
  ['reprise show --store=sqlite:other.db ', ['other']],
  ['reprise show nightly-7 ', ['fetch', 'load']],
  ['reprise logs nightly-7 --attempt 2 fe', ['fetch']],
  ['reprise resume nightly-7 --done lo', ['load']],
  ['reprise breakers reset ', ['warehouse']],
  ['reprise show nightly-7 fetch ', []],
  ['reprise show --store sqlite:missing.db ', []],
  ['reprise show --store postgres://nobody@127.0.0.1:1/none ', []],
  ['reprise show --store nonsense ', []],
]

describe.each(SHELLS)('%s', (shell) => {
  const there = test.skipIf(!hasShell(shell))

  there.each(CASES)('completes `%s`', (line, candidates) => {
    expect(rig.complete(shell, line)).toEqual({ candidates, said: '' })
  })

  there('completes the name of a file, with a blank in it', () => {
    const { candidates, said } = rig.complete(shell, 'reprise run fl')
    expect({ candidates: candidates.map((name) => name.replaceAll('\\', '')).toSorted(), said }).toEqual({
      candidates: ['flow two.yaml', 'flow.yaml'],
      said: '',
    })
  })

  there('completes the program that exec runs, and the flags before it', () => {
    expect(rig.complete(shell, 'reprise exec -- base64').candidates).toContain('base64')
    expect(rig.complete(shell, 'reprise exec --atte').candidates).toContain('--attempts')
    expect(rig.complete(shell, 'reprise exec -- cat flow.y').candidates).toContain('flow.yaml')
  })

  there('lists every command of `reprise --help`', () => {
    const help = rig.run('--help').stdout
    const { candidates } = rig.complete(shell, 'reprise ')
    expect(candidates.length).toBeGreaterThan(15)
    for (const name of candidates) expect(help).toMatch(new RegExp(`^  ${name}\\b`, 'm'))
  })
})

test('the value of a flag is completed behind an equals sign', () => {
  expect(rig.complete('bash', 'reprise ps --state=inter').candidates).toEqual(['interrupted'])
})

test('what is looked up says nothing and exits with 0, whatever the store is', () => {
  writeFileSync(path.join(rig.directory, 'damaged.db'), 'this is no database, though it is long enough to be one')
  for (const args of [
    ['runs', '--store', 'sqlite:damaged.db'],
    ['runs', '--store', 'memory:'],
    ['steps'],
    ['nonsense'],
    [],
  ]) {
    expect(rig.run('__complete', ...args), args.join(' ')).toMatchObject({ stdout: '', stderr: '', status: 0 })
  }
})

test('an id that a shell could take for something else is left out', () => {
  expect(rig.run('exec', '--durable', 'plain-id', '--', 'true').status).toBe(0)
  expect(rig.run('__complete', 'runs').stdout).toMatch(/^plain-id\t/m)
})
