/**
 * The shape of what a ledger keeps with a task: everything that reads a task goes by it. Imports the ledger's types.
 */
import {
  ANY_JSON,
  COUNT,
  FLAG,
  fields,
  isJsonObject,
  type JsonShape,
  listOf,
  NUMBER,
  oneOf,
  orNull,
  shapeFaults,
  shownJson,
  TEXT,
} from '../ledger/json-shape.js'
import { type FailureRecord, TASK_STATUSES } from '../ledger/records.js'

/** A number; said as the checks of its value say it. */
const amount =
  (words: (shown: string, name: string) => string): JsonShape =>
  (value, place, faults) => {
    if (typeof value !== 'number') faults.push(words(shownJson(value), place.slice(place.lastIndexOf('.') + 1)))
  }

const AMOUNT = amount((shown, name) => `${name} is ${shown}`)
const TIME = amount((shown, name) => `${name} is ${shown}, which is not a time`)

const RETRY = fields(
  {
    version: AMOUNT,
    seed: amount((shown) => `the seed is ${shown}`),
    failures: AMOUNT,
    launched: AMOUNT,
    totalDelayMs: AMOUNT,
    lastDelayMs: AMOUNT,
    expiresAtMs: orNull(TIME),
    deadlineAtMs: orNull(TIME),
  },
  // Of older versions.
  { resumed: FLAG },
)

const DENIAL = fields({ gate: TEXT, reason: TEXT }, { message: TEXT })

/** Of an attempt, a task and a dead letter. */
export const FAILURE: JsonShape = fields({ name: TEXT, message: TEXT }, {
  code: TEXT,
  exitCode: NUMBER,
  status: NUMBER,
  retryable: FLAG,
  halt: FLAG,
  denial: DENIAL,
} satisfies Readonly<Partial<Record<keyof FailureRecord, JsonShape>>>)

const EXECUTION = { attempt: AMOUNT, execution: AMOUNT }
const CURRENT = fields(
  { ...EXECUTION, startedAtMs: AMOUNT },
  {
    probe: fields({ breaker: TEXT, epoch: NUMBER }),
    batch: TEXT,
  },
)
const LOST = fields({ ...EXECUTION, startedAtMs: NUMBER, delayBeforeMs: NUMBER, owner: TEXT })

const OPTIONAL = {
  waitChosenBy: TEXT,
  resumedAtMs: NUMBER,
  unverified: FLAG,
  alone: FLAG,
  policyAccepted: FLAG,
  resumeId: TEXT,
  startEarly: FLAG,
  lost: LOST,
  allotted: NUMBER,
  unpaid: FLAG,
  budgetDenial: ANY_JSON,
  failedOn: listOf(TEXT),
  uncharged: FLAG,
  grouped: FLAG,
  acknowledged: FLAG,
  budgetReason: TEXT,
  checkpoint: fields(EXECUTION),
  earlier: listOf(
    fields({
      generation: NUMBER,
      status: oneOf(TASK_STATUSES),
      stopReason: orNull(TEXT),
      attempts: NUMBER,
      waitedMs: NUMBER,
      endedAtMs: NUMBER,
    }),
  ),
}
const STATE = { current: orNull(CURRENT), lastFailure: orNull(FAILURE), interruptions: AMOUNT }
const PROGRESS = fields({ retry: RETRY, ...STATE }, OPTIONAL)
/** Written before there was a retry state: it has none of what depends on it, or all of it as it is now. */
const OLDER_PROGRESS = fields({}, { ...STATE, ...OPTIONAL })

const POLICY = fields(
  { attempts: COUNT },
  { retryBudgetMs: orNull(NUMBER), budget: orNull(fields({ name: TEXT })), breaker: orNull(fields({})) },
)

/** Of an attempt or a dead letter: what is wrong with the failure that it keeps. */
export function faultsOfFailure(failure: unknown): string[] {
  return failure === null ? [] : shapeFaults(FAILURE, failure, 'failure')
}

/** What of a kept policy cannot be, of the fields that are read by themselves. */
export function faultsOfPolicy(policy: unknown): string[] {
  return shapeFaults(POLICY, policy, 'policy')
}

/** What of the progress cannot be, as its values stand alone. */
export function faultsOfShape(progress: unknown): string[] {
  if (!isJsonObject(progress)) return ['there is no retry state']
  if (progress['retry'] === undefined) return shapeFaults(OLDER_PROGRESS, progress, 'progress')
  if (!isJsonObject(progress['retry'])) return ['there is no retry state']
  return shapeFaults(PROGRESS, progress, 'progress')
}
