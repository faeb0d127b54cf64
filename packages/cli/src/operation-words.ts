/**
 * What the workflow package refuses to do, as the error that ends the command: with what to type next, in the words of
 * flags. Loaded when a command throws. Imports the workflow package, times in words and the errors of commands.
 */
import { LISTED_RUNS, type OperationError, type OperationProblem } from '@reprise/workflow/internal'
import { RefusedError, UsageError } from './failures.js'
import { whereRunsAre } from './output/no-store.js'
import { relativeTime } from './output/relative-time.js'

export function commandError(error: OperationError): UsageError | RefusedError {
  const { kind, problem, message } = error
  if (kind === 'invalid') return usageError(error)
  return new RefusedError({ kind, message, details: detailsOf(problem), next: nextOf(problem) })
}

function usageError({ problem, message, suggestion }: OperationError): UsageError {
  switch (problem.code) {
    case 'invalid_address':
      return new UsageError(`--store ${message}`, suggestion)
    case 'address_without_store':
      return new UsageError('--store memory: keeps nothing once the command has ended', suggestion)
    case 'no_backup':
      return new UsageError(message, 'name a file that `store backup` wrote')
    case 'no_sqlite_file':
      return new UsageError(
        '--salvage is for SQLite files',
        'copy a store on a server with `reprise store backup FILE`',
      )
    case 'missing_params':
      return new UsageError(message, `add ${problem.names.map((name) => `--param ${name}=…`).join(' ')}`)
    case 'wrong_param':
      return new UsageError(`--param ${message}`, suggestion)
    case 'missing_directory':
      return new UsageError(message, `${suggestion ?? ''}: --cwd DIR`)
    case 'missing_secrets': {
      const variables = problem.names.map((name) => `${name}=…`).join(' ')
      return new UsageError(message, `set it before the command: ${variables} reprise …`)
    }
    default:
      return new UsageError(message, suggestion)
  }
}

function detailsOf(problem: OperationProblem): string[] {
  if (problem.code === 'no_store') return [whereRunsAre(problem.isOnServer)]
  if (problem.code === 'ambiguous_letter') return [...problem.letters]
  if (problem.code !== 'ambiguous_run') return []
  const { found, nowMs } = problem
  const shown = found.slice(0, LISTED_RUNS)
  return [
    ...shown.map(({ id, createdAtMs }) => `${id}, started ${relativeTime(createdAtMs, nowMs)}`),
    ...(found.length > LISTED_RUNS ? ['…'] : []),
  ]
}

/** Commands to type next, each as its words after the name of the program. */
function nextOf(problem: OperationProblem): (readonly string[])[] {
  switch (problem.code) {
    case 'no_store':
    case 'no_runs':
      return [['run', 'workflow.yaml']]
    case 'unknown_run':
    case 'ambiguous_run':
      return [['ps']]
    case 'no_interrupted_run':
      return [...(problem.failed === null ? [] : [['resume', problem.failed, '--reset-retries']]), ['ps']]
    case 'several_interrupted_runs': {
      const more = problem.runs.length > LISTED_RUNS ? [['ps', '--state', 'interrupted']] : []
      return [...problem.runs.slice(0, LISTED_RUNS).map((run) => ['resume', run]), ...more]
    }
    case 'run_is_job':
      return [['job', 'status', problem.job]]
    case 'run_exists':
      return [
        ['show', problem.run],
        ['resume', problem.run],
      ]
    case 'run_locked':
    case 'other_version':
      return [['watch', problem.run]]
    case 'run_not_ended':
      return [['cancel', problem.run]]
    case 'unknown_step':
    case 'unknown_map':
    case 'map_not_open':
    case 'several_maps':
      return [['show', problem.run]]
    case 'map_stopped': {
      const { run, maxFailures } = problem
      const more = maxFailures === null ? [] : [['resume', run, '--max-failures', String(maxFailures)]]
      return [['dlq', 'retry', run], ...more, ['resume', run, '--reset-retries']]
    }
    case 'unknown_item':
      return [['show', problem.run, problem.map]]
    case 'run_cancelled':
      return problem.run === null ? [] : [['resume', problem.run, '--reset-retries']]
    case 'unknown_attempt':
      return [['show', problem.run, problem.step]]
    default:
      return nextOfLetters(problem)
  }
}

/** The same for problems with dead letters. */
function nextOfLetters(problem: OperationProblem): (readonly string[])[] {
  switch (problem.code) {
    case 'unknown_letter':
    case 'letter_not_open':
      return [['dlq', 'list', '--state', 'all']]
    case 'letter_undecided':
      return [
        ['dlq', 'decide', problem.letter, '--done'],
        ['dlq', 'decide', problem.letter, '--rerun'],
      ]
    case 'letter_not_undecided':
      return [['dlq', 'retry', problem.letter]]
    case 'undecided_step':
      return [
        ['resume', problem.run, '--done', problem.step],
        ['resume', problem.run, '--rerun', problem.step],
      ]
    case 'unknown_task':
      return [['tasks', 'list']]
    case 'task_not_possible':
      return [['tasks', 'show', problem.task]]
    case 'unknown_group':
      return [['dlq', 'groups']]
    case 'ambiguous_letter':
      return [['dlq', 'list']]
    default:
      return []
  }
}
