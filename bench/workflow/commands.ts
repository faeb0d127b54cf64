/**
 * What a start of the command line costs, and what it adds to the command that it runs. Imports what takes turns.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { inNewDirectory } from '../ledger/scratch.js'
import { type Cost, costOf, costsInTurns, type Program } from './costs.js'

const BIN = fileURLToPath(new URL('../../packages/cli/bin/reprise.js', import.meta.url))
export const REPRISE = [process.execPath, BIN] as const

const FLAKY = 'test "$ATTEMPT" -gt 2'
const FILES = {
  'run.yaml': `steps:\n  - id: one\n    run: ["true"]\n`,
  'shell.yaml': `steps:\n  - id: one\n    shell: "true"\n`,
  'flaky.yaml': `steps:
  - id: one
    shell: ${FLAKY.replace('ATTEMPT', 'REPRISE_ATTEMPT')}
    retry: { attempts: 3, backoff: fixed, initial_delay: 0s }
`,
}
/** What somebody writes who has no time. */
const LOOP = `for attempt in 1 2 3; do ATTEMPT=$attempt bash -euo pipefail -c '${FLAKY}' && exit 0; done; exit 1`

export interface CommandCosts {
  readonly bare: Cost
  readonly bash: Cost
  /** What is measured, by what people would type. */
  readonly commands: readonly { readonly what: string; readonly cost: Cost; readonly mostOfBare?: number }[]
}

const inDirectory =
  (cwd: string) =>
  (...argv: string[]): Program =>
  () =>
    costOf(argv, { cwd })

export function measureCommands(rounds: number): Promise<CommandCosts> {
  return inNewDirectory(async (directory) => {
    for (const [name, text] of Object.entries(FILES)) writeFileSync(path.join(directory, name), text)
    const run = inDirectory(directory)
    let places = 0
    const inNewPlace = async (): Promise<Cost> => {
      const place = path.join(directory, String(++places))
      mkdirSync(place)
      return costOf([...REPRISE, 'run', '../run.yaml'], { cwd: place })
    }
    const costs = await costsInTurns(
      {
        bare: run(process.execPath, '-e', '0'),
        bash: run('bash', '-c', 'true'),
        version: run(...REPRISE, '--version'),
        help: run(...REPRISE, '--help'),
        validate: run(...REPRISE, 'validate', 'run.yaml'),
        ps: run(...REPRISE, 'ps'),
        exec: run(...REPRISE, 'exec', '--', 'true'),
        run: run(...REPRISE, 'run', 'run.yaml'),
        shell: run(...REPRISE, 'run', 'shell.yaml'),
        first: inNewPlace,
        flaky: run(...REPRISE, 'run', 'flaky.yaml'),
        loop: run('bash', '-c', LOOP),
      },
      rounds,
    )
    return named(costs)
  })
}

function named(costs: Readonly<Record<string, Cost>>): CommandCosts {
  const of = (name: string): Cost => costs[name] ?? { wallMs: NaN, cpuMs: NaN }
  return {
    bare: of('bare'),
    bash: of('bash'),
    commands: [
      { what: '`node -e 0`', cost: of('bare') },
      { what: '`bash -c true`', cost: of('bash') },
      { what: '`reprise --version`', cost: of('version'), mostOfBare: 1.5 },
      { what: '`reprise --help`', cost: of('help') },
      { what: '`reprise validate FILE`', cost: of('validate') },
      { what: '`reprise ps`', cost: of('ps') },
      { what: '`reprise exec -- true`', cost: of('exec') },
      { what: '`reprise run`: one step, `run: ["true"]`', cost: of('run') },
      { what: '`reprise run`: one step, `shell: "true"`', cost: of('shell') },
      { what: '`reprise run`: the first in a directory', cost: of('first') },
      { what: '`reprise run`: fails twice, then succeeds, no delays', cost: of('flaky') },
      { what: 'the same as a loop in bash', cost: of('loop') },
    ],
  }
}
