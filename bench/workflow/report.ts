/** Tables of what was measured. Imports those of the ledger's benchmarks. */
import { number, table } from '../ledger/report.js'
import type { CommandCosts } from './commands.js'
import type { SpawnCosts } from './spawns.js'
import type { StepKind, StepRates } from './steps.js'

const check = (value: number, most: number): string => `≤ ${most} ${value <= most ? '✓' : '✗'}`

export function commandsTable({ bare, bash, commands }: CommandCosts): string {
  const head = ['command', 'ms', 'CPU ms', '÷ bare Node', 'goal', 'CPU ÷', 'more than bare, ms', 'more than bash, ms']
  const lines = commands.map(({ what, cost, mostOfBare }) => [
    what,
    number(cost.wallMs),
    number(cost.cpuMs),
    `${number(cost.wallMs / bare.wallMs)} ×`,
    mostOfBare === undefined ? '' : check(cost.wallMs / bare.wallMs, mostOfBare),
    `${number(cost.cpuMs / bare.cpuMs)} ×`,
    number(cost.wallMs - bare.wallMs),
    number(cost.wallMs - bash.wallMs),
  ])
  return table([head, ...lines])
}

export function stepsTable(all: readonly { readonly kind: StepKind; readonly rates: StepRates }[]): string {
  const head = [
    'steps',
    'per second',
    'by hand',
    'which is',
    'ratio',
    'goal',
    'CPU µs each',
    'by hand',
    'bare spawns',
    'ratio',
  ]
  const lines = all.map(({ kind, rates }) => {
    const { rate, floorRate, ratio, cpuUs, floorCpuUs, spawnRate } = rates
    const spawns = spawnRate === null ? ['', ''] : [number(spawnRate), `${number(rate / spawnRate)} ×`]
    return [
      kind.title,
      number(rate),
      number(floorRate),
      kind.floor,
      `${number(ratio)} ×`,
      `≥ ${kind.goal} ${ratio >= kind.goal ? '✓' : '✗'}`,
      number(cpuUs),
      number(floorCpuUs),
      ...spawns,
    ]
  })
  return table([head, ...lines])
}

export function spawnsTable({ ignored, piped, runner }: SpawnCosts): string {
  const line = (what: string, us: number): string[] => [what, number(us), `${number(us / piped)} ×`, number(us - piped)]
  return table([
    ['one process, `true`', 'µs', '÷ with pipes', 'more, µs'],
    line('`child_process.spawn`, output ignored', ignored),
    line('`child_process.spawn` with pipes', piped),
    line('the process runner', runner),
  ])
}
