/**
 * Workflows for programs: run a plan, or continue a run of it, with defaults for what the command line takes from its
 * flags. Imports the library and its own layer.
 */
import path from 'node:path'
import { type DurationInput, OptionsError, RepriseError } from 'reprise'
import { type Durable, type Json, openLedger, TaskRefusedError } from 'reprise/durable'
import {
  addressOf,
  checkedReads,
  durationCheck,
  expectOptions,
  nearest,
  type OptionCheck,
  sharedLedger,
} from 'reprise/internal'
import { InputError } from '../document/problem.js'
import { faultOfSecrets } from '../masking/secret-fault.js'
import type { Plan } from '../plan/plan.js'
import { withEnvFiles } from './env-files.js'
import type { OutputListener } from './attempt-output.js'
import { STATE_NAME, statePathFor } from '../state/state-path.js'
import type { RunEnd } from './conductor.js'
import { recordedPlan } from './recorded-plan.js'
import { checkResume, type Refusal, type ResumeCheck, type ResumeChoices } from './resume-check.js'
import { resumeRun } from './resume-run.js'
import type { RunEvent } from './run-event.js'
import { notesOf } from '../view/run-notes.js'
import type { RunSettings } from './session.js'
import { newRunId, startRun } from './start-run.js'

interface WorkflowOptions {
  /** The store: an address, `sqlite:PATH` or `postgres://…`, or open durable tasks, whose store is shared and stays open. */
  readonly durable: string | Durable
  /**
   * Directory of logs. `reprise logs --store ADDRESS` looks into the default one.
   * @default that of the command line: a directory for each store in `.reprise`, beside the SQLite file or in the
   * current directory
   * @example { stateDirectory: '/var/lib/app/reprise' }
   */
  readonly stateDirectory?: string
  /** What commands inherit. @default `process.env` @example { env: { PATH: '/usr/bin', REGION: 'eu' } } */
  readonly env?: Readonly<Record<string, string | undefined>>
  /**
   * Time from asking a command to end to killing it, with its whole process tree.
   * @default '5s'
   * @example { grace: '10s' }
   */
  readonly grace?: DurationInput
  /**
   * Called with what happens, after it is recorded.
   * @default none
   * @example { onEvent: (event) => console.log(event.type) }
   */
  readonly onEvent?: (event: RunEvent) => void
  /**
   * Gets the output of attempts as it goes into their logs.
   * @default none: output goes into the logs alone
   * @example { output: { onEnd: ({ step }, log) => console.log(step, log) } }
   */
  readonly output?: OutputListener
  /**
   * Stops the run when aborted: attempts in flight are interrupted, and the run can be resumed.
   * @default none
   * @example { signal: AbortSignal.timeout(60_000) }
   */
  readonly signal?: AbortSignal
}

/** Options of `runWorkflow`. An option that is misspelt or of the wrong type is refused. */
export interface RunWorkflowOptions extends WorkflowOptions {
  /**
   * Letters, digits, dots, dashes and underscores.
   * @default the name of the workflow with the date and random digits
   * @example { runId: 'nightly-2026-01-31' }
   */
  readonly runId?: string
  /**
   * Values of parameters. One without a default in the document has to be given.
   * @default the defaults of the document
   * @example { params: { region: 'eu' } }
   */
  readonly params?: Readonly<Record<string, Json>>
}

/** Options of `resumeWorkflow`. An option that is misspelt or of the wrong type is refused. */
export interface ResumeWorkflowOptions extends WorkflowOptions, Partial<ResumeChoices> {}

declare module 'reprise' {
  interface ErrorByCode {
    resume_refused: ResumeRefusedError
  }
}

/** The run is not resumed, and nothing was touched. */
export class ResumeRefusedError extends RepriseError {
  declare readonly code: 'resume_refused'
  /** The id of the run. */
  readonly runId: string
  /** Everything that stands against the resume. */
  readonly refusals: readonly Pick<Refusal, 'kind' | 'message'>[]

  constructor(runId: string, refusals: ResumeRefusedError['refusals']) {
    super('resume_refused', refusals.map(({ message }) => message).join(' '))
    this.runId = runId
    this.refusals = refusals
  }

  override get name(): string {
    return 'ResumeRefusedError'
  }
}

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value)
const isFunction = (value: unknown): boolean => typeof value === 'function'
const isText = (value: unknown): boolean => typeof value === 'string' && value !== ''
const isTruth = (value: unknown): boolean => typeof value === 'boolean'
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText)
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 1
const isDurable = (value: unknown): boolean => isText(value) || (isObject(value) && 'runs' in (value as object))

const CHECKS: Readonly<Record<keyof WorkflowOptions, OptionCheck>> = {
  durable: [isDurable, 'an address, such as sqlite:.reprise/ledger.db, or what openDurable gives'],
  stateDirectory: [isText, 'a path'],
  env: [isObject, 'an object with a text for each variable'],
  grace: durationCheck("a duration such as '5s'"),
  onEvent: [isFunction, 'a function'],
  output: [isObject, 'an object with the function onEnd'],
  signal: [(value) => value instanceof AbortSignal, 'an AbortSignal'],
}
const RUN_CHECKS = { ...CHECKS, runId: [isText, 'a text'], params: [isObject, 'an object'] } as const
const RESUME_CHECKS = {
  ...CHECKS,
  resetRetries: [isTruth, 'true or false'],
  acceptChanges: [isTruth, 'true or false'],
  done: [isTexts, 'a list of ids of steps'],
  rerun: [isTexts, 'a list of ids of steps'],
  force: [isTruth, 'true or false'],
  maxFailures: [isCount, 'a whole number of 1 or more'],
  maxParallel: [isCount, 'a whole number of 1 or more'],
} as const

/**
 * Runs a plan to its end. A step that fails ends the run and is no error: see `state`. Rejects with an `OptionsError`
 * for wrong options or parameters, and with an `InputError` if a secret of the plan is missing.
 * @example
 * const { state, failedStep } = await runWorkflow(plan, { durable: 'sqlite:./runs.db', params: { region: 'eu' } })
 */
export async function runWorkflow(plan: Plan, options: RunWorkflowOptions): Promise<RunEnd> {
  expectPlan('runWorkflow', plan)
  expectWorkflowOptions('runWorkflow', options, RUN_CHECKS)
  const { runId = newRunId(plan.name, new Date()), params = {} } = options
  expectParams(plan, params)
  const documentDir = plan.file === null ? process.cwd() : path.dirname(plan.file)
  expectSecrets(plan, documentDir, options)
  return startRun(plan, { runId, params, cwd: documentDir, documentDir }, settingsOf(options))
}

/**
 * Continues a run: steps that have ended stay, the attempt in flight runs again, and waits last for the time that is
 * left of them. `plan`: the document as it is now. Rejects with a `ResumeRefusedError` if something stands against it.
 * @example const { state } = await resumeWorkflow(plan, 'nightly-1', { durable: 'sqlite:./runs.db' })
 */
export async function resumeWorkflow(plan: Plan, runId: string, options: ResumeWorkflowOptions): Promise<RunEnd> {
  expectPlan('resumeWorkflow', plan)
  if (!isText(runId)) throw new TypeError('The second argument of resumeWorkflow must be the id of a run')
  expectWorkflowOptions('resumeWorkflow', options, RESUME_CHECKS)
  const { resetRetries = false, acceptChanges = false, done = [], rerun = [], force = false } = options
  const { maxFailures, maxParallel } = options
  const limits = {
    ...(maxFailures !== undefined && { maxFailures }),
    ...(maxParallel !== undefined && { maxParallel }),
  }
  const choices: ResumeChoices = { resetRetries, acceptChanges, done, rerun, force, ...limits }
  const check = await lookAt(plan, runId, options, choices)
  if (check.isDone) {
    const { outputs } = notesOf(check.run)
    return { state: 'succeeded', stopReason: null, failedStep: null, undecided: [], ...(outputs && { outputs }) }
  }
  if (check.refusals.length > 0) throw new ResumeRefusedError(runId, check.refusals)
  expectSecrets(plan, notesOf(check.run).documentDir, options)
  return resumeRun(plan, runId, { choices, check }, settingsOf(options))
}

function expectPlan(caller: string, plan: unknown): void {
  if (Array.isArray((plan as Partial<Plan> | null | undefined)?.phases)) return
  throw new TypeError(`The first argument of ${caller} must be a plan, which \`await loadWorkflow(text)\` gives`)
}

function expectWorkflowOptions(
  caller: string,
  options: WorkflowOptions,
  checks: Readonly<Record<string, OptionCheck>>,
): void {
  expectOptions(caller, options, checks, { required: ['durable'] })
  if (options.output === undefined || isFunction(options.output.onEnd)) return
  throw new OptionsError(caller, [{ path: 'output.onEnd', message: 'is missing: say a function' }])
}

/** A parameter whose default is null has to be given. */
function expectParams({ name, params }: Plan, given: Readonly<Record<string, Json>>): void {
  const known = Object.keys(params)
  const missing = known
    .filter((param) => params[param] === null && given[param] === undefined)
    .map((param) => ({ path: `params.${param}`, message: 'is missing: the workflow has no default for it' }))
  const unknown = Object.keys(given)
    .filter((param) => !Object.hasOwn(params, param))
    .map((param) => {
      const near = nearest(param, known)
      const suggestion = near === undefined ? {} : { suggestion: `did you mean \`${near}\`?` }
      return { path: `params.${param}`, message: `the workflow ${name} has no such parameter`, ...suggestion }
    })
  const problems = [...missing, ...unknown]
  if (problems.length > 0) throw new OptionsError('runWorkflow', problems)
}

function expectSecrets(plan: Plan, documentDir: string, { env = process.env }: WorkflowOptions): void {
  const fault = faultOfSecrets(plan.secrets, withEnvFiles(plan, documentDir, env))
  if (fault !== undefined) throw new InputError([{ message: fault.message, suggestion: fault.suggestion }])
}

async function lookAt(
  plan: Plan,
  runId: string,
  { durable }: WorkflowOptions,
  choices: ResumeChoices,
): Promise<ResumeCheck> {
  const shared = typeof durable === 'string' ? await openLedger(durable, { create: false }) : sharedLedger(durable)
  const ledger = checkedReads(shared)
  try {
    const record = await ledger.run(runId)
    if (record === undefined) throw new TaskRefusedError('not_found', `There is no run ${runId}`)
    const definition = (await ledger.definition(runId)) ?? null
    const plans = { now: plan, before: () => recordedPlan(record, definition) }
    return await checkResume(ledger, record, plans, choices)
  } finally {
    await ledger.close()
  }
}

/** A ledger that was opened without an address may be any store: its logs are with those of the default one. */
function stateDirectoryFor(durable: string | Durable): string {
  const address = typeof durable === 'string' ? durable : addressOf(durable)
  return address === undefined ? STATE_NAME : statePathFor(address, process.cwd())
}

function settingsOf(options: WorkflowOptions): RunSettings {
  const { durable, env = process.env, onEvent, grace, output, signal } = options
  const { stateDirectory = stateDirectoryFor(durable) } = options
  const given = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return {
    store: durable,
    stateDirectory: path.resolve(stateDirectory),
    env: Object.fromEntries(given),
    ...(onEvent && { listener: onEvent }),
    ...(grace !== undefined && { grace }),
    ...(output && { output }),
    ...(signal && { signal }),
  }
}
