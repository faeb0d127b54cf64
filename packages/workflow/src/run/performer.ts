/**
 * One attempt of a step: what it sees, where its output goes, and that nothing of it is left when the next one begins.
 * Retries are not decided here: what fails, fails. Imports steps, values, masking, the state directory and the plan.
 *
 * Invariant: two attempts of a step never run at once, also when the driver has given up waiting for the first: its
 * processes are gone before another begins.
 */
import { resolve } from 'node:path'
import type { DurableContext, Json, VerifyAnswer } from 'reprise/durable'
import { type MaskedOutput, maskOutput } from '../masking/masked-output.js'
import type { Masker } from '../masking/masker.js'
import type { Action, Plan, StepPlan } from '../plan/plan.js'
import { endLeftovers } from '../process/end-leftovers.js'
import type { StateDirectory } from '../state/state-directory.js'
import { performAction } from '../steps/perform.js'
import type { StepContext, StepOutput } from '../steps/step-context.js'
import type { StepTools } from '../steps/step-tools.js'
import { captured } from '../values/capture.js'
import { fillText } from '../values/template.js'
import type { Scope, StepResult } from './scope.js'

/** What a value may be that the ledger keeps. */
const CAPTURE_BYTES = 1024 * 1024
/** How often the last line of a step is told. */
const OUTPUT_EVERY_MS = 250

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
  readonly onOutput: ((stream: 'stdout' | 'stderr', bytes: Uint8Array) => void | Promise<void>) | undefined
  readonly onLine: (step: string, attempt: number, line: string) => void
}

export class Performer {
  private readonly parts: PerformerParts
  /** By step: settled when nothing of its last attempt is left. */
  private readonly endings = new Map<string, Promise<void>>()

  constructor(parts: PerformerParts) {
    this.parts = parts
  }

  /** Resolves when no attempt has left anything behind. */
  async settled(): Promise<void> {
    await Promise.all(this.endings.values())
  }

  async perform(step: StepPlan, action: Action, context: DurableContext): Promise<StepResult> {
    await this.endings.get(step.id)
    const work = this.attempt(step, action, context)
    const ending = work.then(
      () => undefined,
      () => undefined,
    )
    this.endings.set(step.id, ending)
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

  private async attempt(step: StepPlan, action: Action, context: DurableContext): Promise<StepResult> {
    const { masker, state, runId } = this.parts
    const { attempt, execution, generation } = context
    const tag = this.tagOf(step)
    // The process that began it before is gone; what it had started may not be.
    if (execution > 1) await endLeftovers(tag, { groupFiles: state.groupFilesOf(runId, context.taskId) })
    const name = { generation, attempt, execution }
    const log = state.openLog(runId, context.taskId, name)
    const masked = maskOutput(masker, (stream, bytes) => log.write(stream, bytes))
    try {
      const given: StepContext = {
        ...this.contextOf(step, context, tag, masked),
        // Its directory is made for those that start processes.
        get groupFile() {
          return state.groupFile(runId, context.taskId, name)
        },
      }
      const output = await performAction(action, given, this.parts.tools)
      const result = masker.maskJson(resultOf(step, output, attempt) as unknown as Json)
      return result as unknown as StepResult
    } catch (error) {
      throw this.maskError(error)
    } finally {
      await masked.end()
      await log.close()
    }
  }

  private contextOf(
    step: StepPlan,
    context: DurableContext,
    tag: string,
    log: MaskedOutput,
  ): Omit<StepContext, 'groupFile'> {
    const { runId, scope, cwd, documentDir, graceMs, onLine } = this.parts
    const { attempt, execution, idempotencyKey, signal } = context
    let toldAtMs = -Infinity
    const tell = (bytes: Uint8Array): void => {
      if (performance.now() - toldAtMs < OUTPUT_EVERY_MS) return
      const line = lastLineOf(bytes)
      if (line === '') return
      toldAtMs = performance.now()
      onLine(step.id, attempt, this.parts.masker.maskText(line))
    }
    return {
      runId,
      stepId: step.id,
      attempt,
      execution,
      idempotencyKey,
      signal,
      values: scope.values,
      env: this.environmentOf(step, context, tag),
      cwd: step.workingDir === null ? cwd : resolve(cwd, this.filled(step.workingDir)),
      documentDir,
      tag,
      graceMs,
      captureBytes: step.capture === null ? 0 : CAPTURE_BYTES,
      log: async (stream, bytes) => {
        tell(bytes)
        await Promise.all([log.write(stream, bytes), this.parts.onOutput?.(stream, bytes)])
      },
    }
  }

  private environmentOf(step: StepPlan, context: DurableContext, tag: string): Record<string, string> {
    const { env, plan, runId } = this.parts
    const given = Object.entries({ ...plan.env, ...step.env }).map(([name, text]) => [name, this.filled(text)])
    return {
      ...env,
      ...(Object.fromEntries(given) as Record<string, string>),
      REPRISE_RUN_ID: runId,
      REPRISE_TASK_ID: context.taskId,
      REPRISE_ATTEMPT: String(context.attempt),
      REPRISE_IDEMPOTENCY_KEY: context.idempotencyKey,
      REPRISE_TAG: tag,
    }
  }

  /** What it says is kept in the ledger. The error itself stays the one it was: matchers look at more than its text. */
  private maskError(error: unknown): unknown {
    const { masker } = this.parts
    if (masker.isEmpty || !(error instanceof Error)) return error
    const masked = masker.maskText(error.message)
    if (masked !== error.message) Object.defineProperty(error, 'message', { value: masked, configurable: true })
    return error
  }

  private filled(text: string): string {
    return fillText(text, this.parts.scope.values)
  }

  private tagOf(step: StepPlan): string {
    return `${this.parts.correlationId}/${step.id}`
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

const decoder = new TextDecoder()

/** Of the last bytes: what a long one began with is not worth the reading. */
function lastLineOf(bytes: Uint8Array): string {
  const lines = decoder.decode(bytes.subarray(-1000)).split(/[\r\n]+/)
  return lines.findLast((line) => line.trim() !== '')?.trim() ?? ''
}
