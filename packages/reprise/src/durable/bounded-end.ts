/**
 * The end of work against a store that may be away: it is waited for only while the store answers. Imports the ledger's
 * port and its own layer.
 */
import { LedgerError } from '../ledger/errors.js'
import type { Ledger } from '../ledger/ledger.js'
import { isTransient } from './persistence.js'

/** How often the store is asked whether it is there. After two questions without an answer it is taken for away. */
const QUESTION_MS = 5000
/** A store that was away at the end before is asked once, for this long. */
const LAST_QUESTION_MS = 1000

/** A question whether the store is there. A failure other than `busy` and `unreachable` is an answer too. */
interface Question {
  isAnswered: boolean
  failure?: unknown
  readonly answered: Promise<void>
}

export class BoundedEnd {
  private readonly ledger: Pick<Ledger, 'leaseNow' | 'name'>
  private readonly leaseMs: number
  private wasAway = false

  constructor(ledger: Pick<Ledger, 'leaseNow' | 'name'>, leaseMs: number) {
    this.ledger = ledger
    this.leaseMs = leaseMs
  }

  /**
   * Whether the work has ended and the store has answered meanwhile; false if the store is away. While it answers, the
   * work is waited for, however long it takes: this process renews its lease meanwhile, so nobody else continues it.
   * Rejects as the work does, or with what the store says of itself.
   */
  async waitFor(work: Promise<unknown>): Promise<boolean> {
    let hasEnded = false
    const ended = work.then(() => void (hasEnded = true))
    const questionMs = this.wasAway ? LAST_QUESTION_MS : QUESTION_MS
    let unanswered = this.wasAway ? 1 : 0
    while (unanswered < 2) {
      const question = this.ask()
      await within(questionMs, Promise.all([ended, question.answered]))
      if (question.isAnswered) this.wasAway = false
      if (question.isAnswered && hasEnded) {
        if (question.failure !== undefined) throw question.failure as Error
        return true
      }
      unanswered = question.isAnswered ? 0 : unanswered + 1
    }
    this.wasAway = true
    return false
  }

  /** What is thrown if the store is away. `unsaved`: what is not recorded, without a full stop. */
  failure(unsaved: string): LedgerError {
    const next = `other processes continue once the lease of this one is over, after ${this.leaseMs / 1000} s at most`
    return new LedgerError('unreachable', `The ledger ${this.ledger.name} does not answer: ${unsaved}; ${next}`)
  }

  private ask(): Question {
    const question: Question = {
      isAnswered: false,
      answered: new Promise((resolve) => {
        const answer = (failure?: unknown): void => {
          question.isAnswered = true
          question.failure = failure
          resolve()
        }
        this.ledger.leaseNow().then(
          () => answer(),
          (error: unknown) => (isTransient(error) ? undefined : answer(error)),
        )
      }),
    }
    return question
  }
}

/** Waits for the work, at most this long. */
async function within(mostMs: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const enough = new Promise<void>((resolve) => (timer = setTimeout(resolve, mostMs)))
  try {
    await Promise.race([work, enough])
  } finally {
    clearTimeout(timer)
    // What fails after it was given up is not heard.
    work.catch(() => undefined)
  }
}
