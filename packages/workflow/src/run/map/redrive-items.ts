/**
 * Redrives items of a map that failed for good: each gets a fresh set of attempts and runs in the lane `redrive`, which no
 * limit of the map stops and whose retries are charged to no allotment. An undecided item may be decided instead: it
 * succeeds as it is, or its interrupted attempt runs again, in the same lane. Imports the library, the plan and its own
 * layer.
 *
 * Invariants: a letter is redriven once, since it names the generation that failed. Items that an interrupted redrive left
 * in the lane are finished by the next process that conducts the map, whatever it was asked to do.
 */
import type { Durable, Json, Ledger } from 'reprise/durable'
import { type ItemQueue, type LetterRef, type RedriveOptions, redriveWith } from 'reprise/internal'
import type { MapRate } from '../../plan/map-plan.js'
import type { LaneWatch } from './lane-watch.js'
import { openInQueue, readClasses } from './map-counts.js'

/** Which items are redriven, and how. */
export interface ItemRedrive {
  /** Nothing else of the run goes on. */
  readonly isOnly: boolean
  /** Letters of the items of a map, page by page; undefined if none of this map is meant. */
  letters(ledger: Ledger, mapRun: string): AsyncIterable<readonly LetterRef[]> | undefined
  readonly grant: Omit<RedriveOptions, 'queue' | 'charged'>
  /** This many first; the others only if all of these succeed. */
  readonly canary?: number
  /** In place of `max_parallel`. */
  readonly most?: number
  /** In place of `rate`. */
  readonly rate?: MapRate
  readonly onEnd: (outcome: RedriveOutcome) => void
}

/** What became of the items that were redriven. */
export interface RedriveOutcome {
  /** The id of the map's run. */
  readonly mapRun: string
  /** Items that were given a fresh set of attempts or were decided, those that an earlier redrive left included. */
  readonly redriven: number
  readonly succeeded: number
  readonly failed: number
  /** Stopped before they ended: the next process that conducts the map finishes them. */
  readonly left: number
  /** Items that only a person can decide about: left alone. */
  readonly undecided: number
  /** One of the first ones failed, so the others were left alone. */
  readonly isCanaryFailed: boolean
}

export interface RedriveParts {
  readonly ledger: Ledger
  readonly durable: Durable
  readonly mapRun: string
  readonly queue: Pick<ItemQueue<never>, 'queue' | 'open' | 'close' | 'lookForLost'>
  readonly watch: LaneWatch
  readonly note: (message: string) => void
  /** The value with its secrets masked. */
  readonly mask: (value: Json) => Json
  /** Aborted when the run is stopped. */
  readonly signal: AbortSignal
}

/** Resolves when the lane is empty or the run is stopped; false if there was nothing to do. */
export async function redriveItems(parts: RedriveParts, redrive: ItemRedrive | undefined): Promise<boolean> {
  const { ledger, mapRun, queue } = parts
  const letters = redrive?.letters(ledger, mapRun)
  if (letters === undefined && (await openInQueue(ledger, queue.queue)) === 0) return false
  try {
    await queue.open(parts.signal)
    if (redrive === undefined || letters === undefined) await parts.watch.untilQueueEmpty(queue)
    else redrive.onEnd(await new Redriving(parts, redrive).process(letters))
  } finally {
    await queue.close()
  }
  return true
}

class Redriving {
  private readonly parts: RedriveParts
  private readonly redrive: ItemRedrive
  private redriven = 0
  private undecided = 0

  constructor(parts: RedriveParts, redrive: ItemRedrive) {
    this.parts = parts
    this.redrive = redrive
  }

  async process(letters: AsyncIterable<readonly LetterRef[]>): Promise<RedriveOutcome> {
    const { ledger, mapRun, queue, watch } = this.parts
    this.redriven = await openInQueue(ledger, queue.queue)
    const before = (await readClasses(ledger, mapRun)).succeeded
    const isHealthy = await this.grantAll(letters)
    await watch.untilQueueEmpty(queue)
    const left = await openInQueue(ledger, queue.queue)
    const succeeded = (await readClasses(ledger, mapRun)).succeeded - before
    const { redriven, undecided } = this
    const failed = Math.max(0, redriven - succeeded - left)
    return { mapRun, redriven, succeeded, failed, left, undecided, isCanaryFailed: !isHealthy }
  }

  /** False if the first ones did not all succeed, and the others were left alone. */
  private async grantAll(letters: AsyncIterable<readonly LetterRef[]>): Promise<boolean> {
    let canary = this.redrive.canary ?? 0
    for await (const page of letters) {
      if (this.parts.watch.isStopped) return true
      let rest = page
      if (canary > 0) {
        const first = page.slice(0, canary)
        rest = page.slice(canary)
        canary -= first.length
        if (!(await this.isHealthy(first))) return false
      }
      await this.grant(rest)
    }
    return true
  }

  private async isHealthy(first: readonly LetterRef[]): Promise<boolean> {
    const { ledger, mapRun, queue, watch, note } = this.parts
    // What an earlier redrive left is none of the first ones.
    await watch.untilQueueEmpty(queue)
    const before = (await readClasses(ledger, mapRun)).succeeded
    const granted = await this.grant(first)
    await watch.untilQueueEmpty(queue)
    const succeeded = (await readClasses(ledger, mapRun)).succeeded - before
    if (watch.isStopped) return true
    const isAll = succeeded >= granted
    note(`${succeeded} of the first ${granted} succeeded: the others are ${isAll ? 'redriven too' : 'left alone'}.`)
    return isAll
  }

  /** How many of them have a fresh set of attempts now, or are decided. */
  private async grant(letters: readonly LetterRef[]): Promise<number> {
    const { durable, queue, mask } = this.parts
    const { decision, ...grant } = this.redrive.grant
    const decided = decision?.answer === 'done' ? { ...decision, result: mask(decision.result) } : decision
    const options = { ...grant, queue: queue.queue, ...(decided && { decision: decided }) }
    const answers = await redriveWith(durable, letters, options)
    const granted = answers.filter(({ answer }) => answer === 'redriven').length
    this.redriven += granted
    this.undecided += answers.filter(({ answer }) => answer === 'undecided').length
    return granted
  }
}
