/**
 * One attempt of a step: what it sees, where its output goes, and that nothing of it is left when the next one begins.
 * Retries are not decided here: what fails, fails. Imports steps, values, masking, the state directory and the plan.
 *
 * Invariant: two attempts of a step never run at once, also when the driver has given up waiting for the first: its
 * processes are gone before another begins.
 */
import { resolve } from 'node:path'
import type { DurableContext, Json, VerifyAnswer } from 'reprise/durable'
import type { Masker } from '../masking/masker.js'
import type { Action, Plan, StepPlan } from '../plan/plan.js'
import { endLeftovers } from '../process/end-leftovers.js'
import { LimitedLog, LogAllowance } from './limited-log.js'
import type { StateDirectory } from '../state/state-directory.js'
import { StateError } from '../state/state-error.js'
import { type ItemPlace, placeName, type StepPlace } from '../state/step-place.js'
import { performAction } from '../steps/perform.js'
import type { StepContext, StepOutput, Values } from '../steps/step-context.js'
import type { StepTools } from '../steps/step-tools.js'
import { captured } from '../values/capture.js'
import { fillText } from '../values/template.js'
import type { OutputListener } from './attempt-output.js'
import { AttemptSink } from './attempt-sink.js'
import type { Scope, StepResult } from './scope.js'
import { expectUntil } from './until-condition.js'

/** What a value may be that the ledger keeps. */
const CAPTURE_BYTES = 1024 * 1024
const HOLDS_SECRET = Buffer.from(
  '[reprise: the captured output holds a secret: later steps get *** instead; they can take it from their environment]\n',
)

export interface PerformerParts {
  readonly runId: string
  /** Of the run, in every ledger its own: two runs with one name do not end each other's processes. */
  readonly correlationId: string
  readonly plan: Plan
  readonly scope: Scope
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  readonly documentDir: string
  readonly graceMs: number
  readonly state: StateDirectory
  readonly masker: Masker
  readonly tools: StepTools
  readonly onOutput:
    | ((stream: 'stdout' | 'stderr', bytes: Uint8Array, attempt: number) => void | Promise<void>)
    | undefined
  readonly output: OutputListener | undefined
  readonly onLine: (step: string, attempt: number, line: string) => void
  /** Told before the attempt ends: what cannot be kept is not the attempt's failure, and nothing more is begun. */
  readonly onStateFailure: (error: StateError) => void
}

/** Where a step works: for the run itself, or for one item of a map. */
export interface StepSite {
  readonly scope: Scope
  /** Absent for a step of the run. */
  readonly item?: ItemPlace
  /** The directory of its commands; that of the run when absent. */
  readonly cwd?: string | undefined
  /** Further variables of its commands. */
  readonly variables?: Readonly<Record<string, string>>
  /** Hears what its commands write, not masked; what it returns is waited for. */
  readonly onBytes?: (stream: 'stdout' | 'stderr', bytes: Uint8Array) => void | Promise<void>
}

interface PlacedStep {
  readonly place: StepPlace
  readonly step: StepPlan
  readonly site: StepSite
}

/** What is known of the attempt that a step is a part of. */
export type AttemptContext = Pick<
  DurableContext,
  'attempt' | 'execution' | 'generation' | 'taskId' | 'idempotencyKey' | 'signal'
>

export class Performer {
  private readonly parts: PerformerParts
  private readonly allowance: LogAllowance
  /** By place: settled when nothing of its last attempt is left, and gone then. */
  private readonly endings = new Map<string, Promise<void>>()

  constructor(parts: PerformerParts) {
    this.parts = parts
    const { plan, state, runId } = parts
    const bytesOnDisk = (): number => state.logsOf(runId).reduce((sum, { bytes }) => sum + bytes, 0)
    this.allowance = new LogAllowance(plan.maxRunLogBytes, bytesOnDisk)
  }

  /** Resolves when no attempt has left anything behind. */
  async settled(): Promise<void> {
    await Promise.all(this.endings.values())
  }

  /** What the texts of a step mean: `env` is what its commands get. */
  valuesOf(step: StepPlan, { scope }: StepSite = this.parts): Values {
    return scope.withVariables(this.variablesOf(step, scope))
  }

  async perform(
    step: StepPlan,
    action: Action,
    context: AttemptContext,
    site: StepSite = this.parts,
  ): Promise<StepResult> {
    const place: StepPlace = { run: this.parts.runId, step: step.id, ...(site.item && { item: site.item }) }
    const name = placeName(place)
    await this.endings.get(name)
    const work = this.attempt({ place, step, site }, action, context).catch((error: unknown) => {
      if (error instanceof StateError) this.parts.onStateFailure(error)
      throw error
    })
    const forget = (): void => {
      if (this.endings.get(name) === ending) this.endings.delete(name)
    }
    const ending: Promise<void> = work.then(forget, forget)
    this.endings.set(name, ending)
    return work
  }

  /** Whether an interrupted attempt happened: 0 yes, and what it prints is the output; 1 no; else nobody knows. */
  async verify(step: StepPlan, context: DurableContext): Promise<VerifyAnswer<Json>> {
    if (typeof step.onInterrupt === 'string') return 'unknown'
    try {
      const result = await this.perform(step, step.onInterrupt.verify, context)
      return { done: result as unknown as Json }
    } catch (error) {
      return (error as { exitCode?: unknown }).exitCode === 1 ? 'rerun' : 'unknown'
    }
  }

  private async attempt(
    { place, step, site }: PlacedStep,
    action: Action,
    context: AttemptContext,
  ): Promise<StepResult> {
    const { masker, state, correlationId, output, onLine } = this.parts
    const { attempt, execution, generation, taskId } = context
    const tag = `${correlationId}/${placeName(place)}`
    // A fallback has files of its own, and the processes of its step.
    const files: StepPlace = place.item === undefined ? { ...place, step: taskId } : place
    // The process that began it before is gone; what it had started may not be.
    if (execution > 1) await endLeftovers(tag, { groupFiles: state.groupFilesOf(place.run, files) })
    const name = { generation, attempt, execution }
    const log = new LimitedLog(state.openLog(files, name), step.maxLogBytes, this.allowance)
    const told = place.item === undefined ? taskId : placeName(place)
    const sink = new AttemptSink(
      { step: told, attempt, execution },
      { log, masker, output, onLine: (line) => onLine(told, attempt, line) },
    )
    try {
      const given: StepContext = {
        ...this.contextOf({ place, step, site }, context, tag, sink),
        // Its directory is made for those that start processes.
        get groupFile() {
          return state.groupFile(files, name)
        },
      }
      const performed = await performAction(action, given, this.toolsFor(site))
      const result = resultOf(step, performed, attempt)
      // What stands in for the action, or looks whether it happened, is not asked to meet its condition.
      if (action === step.action) await expectUntil(step, { result, values: given.values, masker })
      const masked = masker.maskJson(result as unknown as Json) as unknown as StepResult
      if (JSON.stringify(masked.output) !== JSON.stringify(result.output)) await sink.write('stderr', HOLDS_SECRET)
      return masked
    } catch (error) {
      throw this.masked(error)
    } finally {
      await sink.close()
    }
  }

  /** Names in shell text are those that the step sees: an item adds some. */
  private toolsFor({ scope }: StepSite): StepTools {
    const { tools } = this.parts
    if (scope === this.parts.scope) return tools
    return { ...tools, isKnown: (name) => Object.hasOwn(scope.values, name) }
  }

  private contextOf(
    { step, site }: PlacedStep,
    context: AttemptContext,
    tag: string,
    sink: AttemptSink,
  ): Omit<StepContext, 'groupFile'> {
    const { runId, documentDir, graceMs } = this.parts
    const cwd = site.cwd ?? this.parts.cwd
    const { attempt, execution, idempotencyKey, signal } = context
    const env = this.environmentOf(step, site, context, tag)
    // As the step has them: our own `REPRISE_…` as well.
    const values = site.scope.withVariables(env)
    return {
      runId,
      stepId: step.id,
      attempt,
      execution,
      idempotencyKey,
      signal,
      values,
      env,
      cwd: step.workingDir === null ? cwd : resolve(cwd, fillText(step.workingDir, values)),
      documentDir,
      tag,
      graceMs,
      captureBytes: step.capture === null ? 0 : CAPTURE_BYTES,
      log: async (stream, bytes) => {
        const heard = [this.parts.onOutput?.(stream, bytes, attempt), site.onBytes?.(stream, bytes)]
        await Promise.all([sink.write(stream, bytes), ...heard])
      },
    }
  }

  private environmentOf(
    step: StepPlan,
    { scope, variables }: StepSite,
    context: AttemptContext,
    tag: string,
  ): Record<string, string> {
    const { env, runId } = this.parts
    return {
      ...env,
      ...this.variablesOf(step, scope),
      REPRISE_RUN_ID: runId,
      REPRISE_TASK_ID: context.taskId,
      REPRISE_ATTEMPT: String(context.attempt),
      REPRISE_IDEMPOTENCY_KEY: context.idempotencyKey,
      REPRISE_TAG: tag,
      ...variables,
    }
  }

  /** Those that the document and the step add. They refer to what the process has. */
  private variablesOf(step: StepPlan, scope: Scope): Record<string, string> {
    const { plan } = this.parts
    const given = Object.entries({ ...plan.env, ...step.env })
    return Object.fromEntries(given.map(([name, text]) => [name, fillText(text, scope.values)]))
  }

  /** What it says is kept in the ledger. The error itself stays the one it was: matchers look at more than its text. */
  masked(error: unknown): unknown {
    const { masker } = this.parts
    if (masker.isEmpty) return error
    if (!(error instanceof Error)) return typeof error === 'string' ? masker.maskCutText(error) : error
    for (const field of ['message', 'name', 'code', 'stack'] as const) {
      const text = (error as unknown as Readonly<Record<string, unknown>>)[field]
      if (typeof text !== 'string') continue
      const value = masker.maskCutText(text)
      if (value !== text) Object.defineProperty(error, field, { value, configurable: true })
    }
    return error
  }
}

function resultOf(step: StepPlan, output: StepOutput, attempts: number): StepResult {
  return {
    exit_code: output.exitCode,
    ...(output.status !== undefined && { status: output.status }),
    attempts,
    ...(step.capture !== null && { output: captured(step.capture.format, output.output) }),
  }
}
