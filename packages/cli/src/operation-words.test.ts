import { OperationError, type OperationProblem } from '@reprise/workflow/internal'
import { expect, test } from 'vitest'
import { RefusedError, UsageError } from './failures.js'
import { commandError } from './operation-words.js'

const runs = (count: number): { id: string; createdAtMs: number }[] =>
  Array.from({ length: count }, (_, index) => ({ id: `r${index}`, createdAtMs: 0 }))

test.each<[OperationProblem, string, string | undefined]>([
  [{ code: 'invalid_address' }, '--store said', 'hint'],
  [{ code: 'address_without_store' }, '--store memory: keeps nothing once the command has ended', 'hint'],
  [{ code: 'no_backup', file: 'x' }, 'said', 'name a file that `store backup` wrote'],
  [
    { code: 'no_sqlite_file' },
    '--salvage is for SQLite files',
    'copy a store on a server with `reprise store backup FILE`',
  ],
  [{ code: 'missing_params', names: ['a', 'b'] }, 'said', 'add --param a=… --param b=…'],
  [{ code: 'wrong_param', name: 'a', text: 'x' }, '--param said', 'hint'],
  [{ code: 'missing_secrets', names: ['TOKEN'] }, 'said', 'set it before the command: TOKEN=… reprise …'],
  [{ code: 'unknown_param' }, 'said', 'hint'],
])('%j is wrong usage, in the words of flags', (problem, message, suggestion) => {
  const error = commandError(new OperationError('invalid', problem, 'said', 'hint'))
  expect(error).toBeInstanceOf(UsageError)
  expect(error).toMatchObject({ message, suggestion })
})

test.each<[OperationProblem, readonly (readonly string[])[]]>([
  [{ code: 'no_runs' }, [['run', 'workflow.yaml']]],
  [{ code: 'unknown_run', near: undefined }, [['ps']]],
  [{ code: 'run_is_job', job: 'probe-1' }, [['job', 'status', 'probe-1']]],
  [
    { code: 'several_interrupted_runs', runs: ['a', 'b'] },
    [
      ['resume', 'a'],
      ['resume', 'b'],
    ],
  ],
  [
    { code: 'run_exists', run: 'a' },
    [
      ['show', 'a'],
      ['resume', 'a'],
    ],
  ],
  [{ code: 'run_not_ended', run: 'a' }, [['cancel', 'a']]],
  [{ code: 'run_locked', run: 'a' }, [['watch', 'a']]],
  [{ code: 'unknown_step', run: 'a', near: undefined }, [['show', 'a']]],
  [{ code: 'unknown_attempt', run: 'a', step: 's' }, [['show', 'a', 's']]],
  [{ code: 'store_refused' }, []],
])('%j is refused with what to type next', (problem, next) => {
  const error = commandError(new OperationError('not_possible', problem, 'said'))
  expect(error).toBeInstanceOf(RefusedError)
  expect(error).toMatchObject({ kind: 'not_possible', message: 'said', details: [], next })
})

test('of many runs the first ten are listed', () => {
  const ambiguous = { code: 'ambiguous_run', found: runs(11), nowMs: 180_000 } as const
  const { details } = commandError(new OperationError('not_possible', ambiguous, 'said')) as RefusedError
  expect(details).toHaveLength(11)
  expect([details[0], details[10]]).toEqual(['r0, started 3m ago', '…'])
  const several = { code: 'several_interrupted_runs', runs: runs(11).map(({ id }) => id) } as const
  const { next } = commandError(new OperationError('not_possible', several, 'said')) as RefusedError
  expect(next).toHaveLength(11)
  expect(next[10]).toEqual(['ps', '--state', 'interrupted'])
})

test('where there is no store, it is said where runs are kept', () => {
  const details = [true, false].map(
    (isOnServer) =>
      (commandError(new OperationError('not_found', { code: 'no_store', isOnServer }, 'said')) as RefusedError).details,
  )
  expect(details).toEqual([
    ['The first run makes one; --store names another database, and ?schema=NAME in it another schema.'],
    ['Runs are kept in the directory where they were started; --store names another store.'],
  ])
})
