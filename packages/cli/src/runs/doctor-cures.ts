/** Where a fault is, and the command that cures it. Imports the library's types and the words of commands. */
import type { FaultPlace, LedgerFault } from 'reprise/internal'
import type { CommandWords } from '../output/next-commands.js'

export function placeText(place: FaultPlace): string {
  switch (place.type) {
    case 'task':
      return `${place.scopeKind === 'run' ? 'step' : 'task'} ${place.scope}/${place.id}`
    case 'run':
      return `run ${place.run}`
    case 'gate':
      return `${place.kind} ${gateName(place.key)}`
    case 'ledger':
      return 'the store'
  }
}

/** A run that goes on from a record that cannot be is ended; a run that has ended is removed. */
export function cureOf({ place, excess }: LedgerFault, command: CommandWords): string {
  switch (place.type) {
    case 'task':
      if (place.runState === null) return `in the program: durable.task('${place.scope}', …).cancel('${place.id}')`
      if (place.runState === 'missing') return salvage(command)
      return runCure({ run: place.scope, isEnded: place.runState === 'ended' }, command)
    case 'run':
      return runCure(place, command)
    case 'gate':
      return place.kind === 'breaker'
        ? command(['breakers', 'reset', gateName(place.key), '--reason', 'inconsistent'])
        : command([
            'budgets',
            'grant',
            gateName(place.key),
            '--amount',
            String(excess ?? 1),
            '--reason',
            'inconsistent',
          ])
    case 'ledger':
      return salvage(command)
  }
}

function salvage(command: CommandWords): string {
  return command(['doctor', '--salvage', 'salvaged.db'])
}

function runCure({ run, isEnded }: { readonly run: string; readonly isEnded: boolean }, command: CommandWords): string {
  return isEnded ? command(['clean', run, '--yes']) : command(['cancel', run])
}

function gateName(key: string): string {
  return key.replace(/^(?:breaker|budget):/, '')
}
