/** Cures of `reprise doctor` as what to type. Imports the workflow package's types and the words of commands. */
import type { Cure } from '@reprise/workflow/internal'
import type { CommandWords } from '../output/next-commands.js'

export function cureWords(cure: Cure, command: CommandWords): string {
  switch (cure.type) {
    case 'install_node':
      return `install Node ${cure.version} or newer`
    case 'update_reprise':
      return 'npm install -g @reprise/cli'
    case 'make_writable':
      return `chmod u+wx ${cure.path}`
    case 'run_as_owner':
      return `run as its owner, the user with id ${cure.uid}, or choose another --store`
    case 'migrate_store':
      return command(['store', 'migrate'])
    case 'salvage_store':
      return command(['doctor', '--salvage', 'salvaged.db'])
    case 'restore_store':
      return `${cure.isInPlace ? 'move the file away, then ' : ''}${command(['store', 'restore', 'BACKUP'])}`
    case 'cancel_task':
      return `in the program: durable.task('${cure.name}', …).cancel('${cure.id}')`
    case 'cancel_run':
      return command(['cancel', cure.run])
    case 'remove_run':
      return command(['clean', cure.run, '--yes'])
    case 'reset_breaker':
      return command(['breakers', 'reset', cure.name, '--reason', 'inconsistent'])
    case 'reset_budget':
      return command(['budgets', 'reset', cure.name, '--reason', 'inconsistent'])
    case 'grant_budget':
      return command(['budgets', 'grant', cure.name, '--amount', String(cure.amount), '--reason', 'inconsistent'])
    case 'advice':
      return cure.text
  }
}
