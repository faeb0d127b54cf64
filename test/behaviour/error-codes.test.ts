/**
 * That a code belongs to one class of errors, in every entry: as types, and of real errors. The compiler refuses this file
 * while the table below lacks a code, or a field that the class of a code has.
 */
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import * as dashboard from '@reprise/dashboard'
import * as dashboardInternal from '@reprise/dashboard/internal'
import * as jobs from '@reprise/jobs'
import * as jobsInternal from '@reprise/jobs/internal'
import * as workflow from '@reprise/workflow'
import { InputError, ResumeRefusedError, StateError } from '@reprise/workflow'
import * as workflowInternal from '@reprise/workflow/internal'
import { OperationError, ReportedError, StdinError } from '@reprise/workflow/internal'
import * as reprise from 'reprise'
import {
  type AnyRepriseError,
  type ErrorByCode,
  type ErrorCode,
  AttemptTimeoutError,
  BreakerOpenError,
  BreakerStateError,
  BudgetDeniedError,
  BudgetError,
  CallTimeoutError,
  isRepriseError,
  NoPolicyError,
  OptionsError,
  PolicyError,
  RepriseError,
  ResultError,
  RetryBudgetExhaustedError,
} from 'reprise'
import * as core from 'reprise/core'
import * as durable from 'reprise/durable'
import { GateRefusedError, LedgerError, openDurable, RecordedFailureError, TaskRefusedError } from 'reprise/durable'
import * as internal from 'reprise/internal'
import * as internalPostgres from 'reprise/internal/postgres'
import * as internalSimulate from 'reprise/internal/simulate'
import * as internalSqlite from 'reprise/internal/sqlite'
import * as observe from 'reprise/observe'
import * as slim from 'reprise/slim'
import * as postgres from 'reprise/postgres'
import * as simulate from 'reprise/simulate'
import * as sqlite from 'reprise/sqlite'
import * as testing from 'reprise/testing'
import { virtualClock } from 'reprise/testing'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { OutputError } from '../../packages/cli/src/output-error.js'

/** Fields that every error of the class has beside those of the base class. */
type OwnField<E> = { [F in Exclude<keyof E, keyof RepriseError>]-?: undefined extends E[F] ? never : F }[Exclude<
  keyof E,
  keyof RepriseError
>]

/** An error of the class, and its fields: one that is missing here, or too many, does not compile. */
type Example<E> = readonly [
  make: () => E | Promise<E>,
  fields: Readonly<Record<Extract<OwnField<E>, string>, 'present'>>,
]

async function recordedTimeout(): Promise<RecordedFailureError> {
  const clock = virtualClock()
  const tasks = await openDurable('memory:', { clock })
  const task = tasks.task('slow', { attempts: 1, timeout: '10ms' }, () => clock.sleep(1000))
  const ended = task.run(null).catch((error: unknown) => error)
  await clock.runAll()
  const error = await ended
  await tasks.close()
  if (error instanceof RecordedFailureError) return error
  throw new Error('The task did not fail', { cause: error })
}

const present = 'present'
const EXAMPLES: { readonly [C in ErrorCode]: Example<ErrorByCode[C]> } = {
  budget_denied: [
    () => new BudgetDeniedError('k', 'b', 'no', 1),
    { key: present, budget: present, reason: present, attempt: present },
  ],
  retry_budget_exhausted: [() => new RetryBudgetExhaustedError('k', 1, 2, undefined), {}],
  breaker_open: [() => new BreakerOpenError('k', 'b'), { breaker: present }],
  attempt_timeout: [
    () => new AttemptTimeoutError('k', 1, 50),
    { timeoutMs: present, attempt: present, launch: present },
  ],
  timeout: [() => new CallTimeoutError('k', 50), { timeoutMs: present }],
  no_policy: [() => new NoPolicyError('k'), { key: present }],
  result_failed: [() => new ResultError('k', 7), {}],
  invalid_policy: [() => new PolicyError([]), { problems: present }],
  invalid_options: [() => new OptionsError('retry', []), { subject: present, problems: present }],
  invalid_budget: [() => new BudgetError('bad'), {}],
  invalid_breaker_state: [() => new BreakerStateError('b', {}), { breaker: present }],
  ledger: [() => new LedgerError('busy', 'held'), { problem: present }],
  recorded_failure: [recordedTimeout, { stopReason: present, attempts: present, failure: present, task: present }],
  task_refused: [() => new TaskRefusedError('closed', 'closed'), { kind: present, changes: present }],
  gate_refused: [() => new GateRefusedError('not_found', 'none'), { kind: present, gates: present }],
  invalid_input: [() => new InputError([]), { problems: present, text: present }],
  resume_refused: [() => new ResumeRefusedError('r', []), { runId: present, refusals: present }],
  operation: [() => new OperationError('not_found', { code: 'no_runs' }, 'none'), { kind: present, problem: present }],
  state: [() => new StateError('p', 'is gone', 'make it'), { path: present, cure: present }],
  stdin: [() => new StdinError('broken'), { retryable: present }],
  output: [() => new OutputError([]), { problems: present, text: present }],
}

type Constructor = abstract new (...args: never) => Error
const isErrorClass = (value: unknown): value is Constructor =>
  typeof value === 'function' && value.prototype instanceof Error
/** By the name they are imported by. */
const ENTRIES: Readonly<Record<string, object>> = {
  reprise,
  'reprise/core': core,
  'reprise/durable': durable,
  'reprise/internal': internal,
  'reprise/internal/postgres': internalPostgres,
  'reprise/internal/simulate': internalSimulate,
  'reprise/internal/sqlite': internalSqlite,
  'reprise/observe': observe,
  'reprise/slim': slim,
  'reprise/postgres': postgres,
  'reprise/simulate': simulate,
  'reprise/sqlite': sqlite,
  'reprise/testing': testing,
  '@reprise/dashboard': dashboard,
  '@reprise/dashboard/internal': dashboardInternal,
  '@reprise/jobs': jobs,
  '@reprise/jobs/internal': jobsInternal,
  '@reprise/workflow': workflow,
  '@reprise/workflow/internal': workflowInternal,
}
const entries = Object.values(ENTRIES)
const exported = new Set(entries.flatMap((entry) => Object.values(entry)).filter(isErrorClass))
/** A class with errors of its own: abstract ones have none. */
const DECLARATION = /^(?:export )?class (\w+) extends (?:RepriseError|ReportedError)\b/gm
/**
 * Without errors of their own; and what the command line makes another error of: what is wrong with a text, with a repository
 * and with an address to listen at.
 */
const BASES: ReadonlySet<Constructor> = new Set<Constructor>([
  RepriseError,
  ReportedError,
  workflowInternal.TextError,
  workflowInternal.WorktreesRefusedError,
  dashboardInternal.ListenError,
])

describe('the code of an error', () => {
  it.each(Object.entries(EXAMPLES))('%s is recognised, with the fields of its class', async (code, [make, fields]) => {
    const error: unknown = await make()
    expect(error).toBeInstanceOf(RepriseError)
    expect(error).toMatchObject({ code, name: (error as Error).constructor.name })
    const codes = Object.keys(EXAMPLES) as ErrorCode[]
    expect(codes.filter((one) => isRepriseError(error, one))).toEqual([code])
    for (const field of Object.keys(fields)) expect(error).toHaveProperty(field, expect.anything())
  })

  it('belongs to one class, and every class that an entry exports has one', async () => {
    const errors = await Promise.all(Object.values(EXAMPLES).map(([make]): unknown => make()))
    const classes = errors.map((error) => (error as Error).constructor)
    expect(new Set(classes).size).toBe(classes.length)
    const without = [...exported].filter((one) => !BASES.has(one) && !classes.includes(one))
    expect(without.map(({ name }) => name)).toEqual([])
  })

  it('is looked at in every entry that a package has', () => {
    const packages = fileURLToPath(new URL('../../packages/', import.meta.url))
    const names = readdirSync(packages).flatMap((directory) => {
      const text = readFileSync(path.join(packages, directory, 'package.json'), 'utf8')
      const { name, exports = {} } = JSON.parse(text) as { name: string; exports?: Record<string, unknown> }
      const isModule = (place: string): boolean => Object.hasOwn(Object(exports[place]) as object, 'reprise-source')
      return Object.keys(exports)
        .filter(isModule)
        .map((place) => path.posix.join(name, place))
    })
    expect(Object.keys(ENTRIES).toSorted()).toEqual(names.toSorted())
  })

  it('is that of every class in the sources that extends the base class, also of one that no entry exports', async () => {
    const packages = fileURLToPath(new URL('../../packages/', import.meta.url))
    const files = readdirSync(packages, { recursive: true, encoding: 'utf8' }).filter((file) =>
      /^[^/\\]+[/\\]src[/\\].*\.ts$/.test(file),
    )
    const sources = files.filter((file) => !file.endsWith('.test.ts'))
    const declared = sources.flatMap((file) => {
      const found = readFileSync(path.join(packages, file), 'utf8').matchAll(DECLARATION)
      return [...found].map(([, name = '']) => name)
    })
    const errors = await Promise.all(Object.values(EXAMPLES).map(([make]): unknown => make()))
    expect(declared.toSorted()).toEqual(errors.map((error) => (error as Error).constructor.name).toSorted())
  })

  it('is the literal of its class, so that comparing it narrows', () => {
    type Mismatches = { [C in ErrorCode]: [ErrorByCode[C]['code'], C] extends [C, ErrorByCode[C]['code']] ? never : C }
    expectTypeOf<Mismatches[ErrorCode]>().toEqualTypeOf<never>()

    const narrow = (error: unknown): number | undefined => {
      if (isRepriseError(error, 'timeout')) expectTypeOf(error).toEqualTypeOf<CallTimeoutError>()
      if (isRepriseError(error, 'recorded_failure')) expectTypeOf(error).toEqualTypeOf<RecordedFailureError>()
      if (!isRepriseError(error)) return undefined
      expectTypeOf(error).toEqualTypeOf<AnyRepriseError>()
      return error.code === 'timeout' || error.code === 'attempt_timeout' ? error.timeoutMs : undefined
    }
    expect(narrow(new CallTimeoutError('k', 50))).toBe(50)
    expect(narrow(new AttemptTimeoutError('k', 1, 20))).toBe(20)
  })

  it('of a recorded failure is its own, whatever the task stopped for', async () => {
    const error: unknown = await recordedTimeout()
    expect(isRepriseError(error, 'timeout')).toBe(false)
    expect(error).toMatchObject({ code: 'recorded_failure', stopReason: 'timeout', attempts: 1 })
  })

  it('is refused by the compiler where no class has it', () => {
    // @ts-expect-error: a stop reason without an error of its own.
    expect(isRepriseError(new NoPolicyError('k'), 'attempts_exhausted')).toBe(false)
  })
})
