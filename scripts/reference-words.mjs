/** What the words of the reference mean, for scripts/reference.mjs, which sees to it that each has one. */

export const MATCHERS = {
  network:
    'Connection refused, reset or aborted, host or network unreachable, DNS, broken pipe; the codes of Node and undici.',
  timeout:
    'Something timed out, an attempt that ran into `attemptTimeout` included; “deadline exceeded”; HTTP 408. Not a text that only names an option: `unknown flag: --timeout`.',
  server_error:
    'HTTP 500 to 599: the status of the error, else a text that speaks of HTTP, such as `HTTP 503`, `status 503`, `503 Service Unavailable`, and the messages of curl, wget, git, npm, pip, docker, kubectl and aws. Not `line 503`.',
  '5xx': 'The same as `server_error`.',
  rate_limit: 'HTTP 429, “too many requests”, a rate limit that was exceeded, throttling errors of AWS.',
  'exit:75': 'One exit code of a command, in a file as in code.',
  exit_code: 'The same in a file.',
  RetryPredicate: 'A function `(error, { key, attempt, launch, kind }) => boolean`. TypeScript only.',
}

export const STOPS = {
  attempts_exhausted: ['The last attempt failed.', "the last attempt's error itself"],
  retry_budget_exhausted: [
    'The next wait would bring the sum of waits above `maxTotalDelay`.',
    '`RetryBudgetExhaustedError`',
  ],
  not_retryable: ['No matcher of `retryOn` fits; or a hook threw.', "the attempt's error itself; the hook's"],
  breaker_open: ['The breaker is open, or would still be after the wait.', '`BreakerOpenError`'],
  budget_denied: ['A budget did not allow an attempt.', '`BudgetDeniedError` for a first attempt, else the last error'],
  timeout: ['The whole call ran into `timeout`, or would during the next wait.', '`CallTimeoutError`'],
  aborted: ["The caller's signal aborted.", "the signal's reason itself"],
  retry_after_too_long: ['The server asks for a longer wait than `maxRetryAfter`.', "the last attempt's error itself"],
  interrupted: [
    'Durable tasks: the process was lost while an attempt ran, and a person has to decide.',
    '`RecordedFailureError`',
  ],
  no_policy: ['The key has no policy and `missingPolicyMode` is `deny`.', '`NoPolicyError`'],
}

export const OUTCOMES = {
  success: 'The operation answered, and `failIf` did not object.',
  failure: 'It threw or rejected, or `failIf` objected.',
  timeout: 'It ran into `attemptTimeout`, or the call into `timeout`.',
  aborted: 'The caller aborted, or it lost a race.',
  interrupted: 'Durable tasks: the process stopped or was lost while it ran; nobody knows how it ended.',
  denied: 'A budget did not let it start, or a breaker of a durable task. The operation was not called.',
}

export const REASONS = {
  allowed: ['yes', 'The budget allowed it.'],
  no_budget: ['yes', 'The policy names no budget, or there is no registry.'],
  budget_not_found: ['by `missingBudgetMode`', 'The policy names a budget that nobody registered.'],
  budget_denied: ['no', 'The budget refused, and gave no other word.'],
  panic_in_budget: ['no', 'The budget threw, or answered with something that is no decision.'],
  park_expired: ['no', "The attempt stood in line for the budget's `maxParkMs`, or until the call's deadline."],
  count_exhausted: ['no', 'The total of a `countBudget` is used up.'],
  key_count_exhausted: ['no', "The key's share of a `countBudget` is used up."],
  no_credit: ['no: it parks', 'An `adaptiveBudget` has no credit or no waste token for a retry; a hedge is denied.'],
  no_slot: [
    'no: it parks',
    'The window of an `adaptiveBudget` has no room for another attempt in flight, or is silent.',
  ],
  line_full: ['no', 'The lines of an `adaptiveBudget` have `maxParked` places, and all are taken.'],
  probe: ['yes', 'An `adaptiveBudget` tries one waiting attempt, because nothing else has started for a while.'],
}

export const ERRORS = {
  RepriseError: 'Base class of all, for `instanceof`. It has no errors of its own.',
  BudgetDeniedError: 'A budget denied the first attempt: the operation was never called.',
  RetryBudgetExhaustedError: 'The sum of waits would exceed `maxTotalDelay`. `cause` is the last error.',
  BreakerOpenError: 'The breaker refused. `cause` is the last error, if an attempt was made.',
  AttemptTimeoutError: 'One attempt took longer than `attemptTimeout`. A failure like any other: it may be retried.',
  CallTimeoutError: 'The whole call took longer than `timeout`. `cause` is the last error, if there was one.',
  NoPolicyError: 'The key has no policy, and `missingPolicyMode` is `deny`.',
  ResultError: '`failIf` declared a result a failure.',
  PolicyError: 'A policy or a duration is invalid; `problems` lists every one.',
  OptionsError: 'Options of the function `subject` are not what they should be; `problems` lists every one.',
  BudgetError:
    'A budget threw (`cause` is its error, `lastError` that of the operation), answered something that is no decision, or was given an impossible grant, snapshot or name.',
  BreakerStateError: 'What a breaker is to be restored from is no snapshot of one.',
}

export const EVENTS = {
  call_started: 'A call begins.',
  attempt_started: 'The operation is about to be called.',
  attempt_finished: 'The call knows how the attempt ended.',
  waiting: 'A wait before attempt `nextAttempt` begins.',
  parked: "An attempt joined a budget's line.",
  budget_decision: 'A budget answered, or threw `error`. There is none where no budget is named.',
  hedge_started: 'A hedge starts; `attempt_started` follows.',
  hedge_cancelled: 'A hedge was told to stop; `attempt_finished` follows.',
  breaker_changed: 'A breaker changed its phase.',
  call_succeeded: 'The call resolves. This or `call_failed`, once.',
  call_failed: 'The call rejects.',
  resumed: 'Durable tasks: this process took the task from one that is gone.',
  interrupted: 'Durable tasks: nobody will hear how the attempt in flight ended.',
  reset: 'Durable tasks: a fresh set of attempts was granted.',
  dead_lettered: 'Durable tasks: it failed for good, and is kept for people to look at.',
  state_refused: 'Durable tasks: what the ledger says cannot be; the task is left as it is.',
  restored: 'Durable tasks: `durable.resume` has looked at what earlier processes left. The key is empty.',
  queue_held: 'Durable tasks: a gate denies tasks of this name, and they wait (`whenDenied: hold`).',
  queue_released: 'Durable tasks: tasks of this name start again.',
  store_away:
    'Durable tasks: the store has not answered for 5 s; attempts go on, and what is to be recorded waits. The key is empty.',
  store_back: 'Durable tasks: the store answers again.',
}

export const STATES = {
  waiting: 'Its next attempt is at `nextAttemptAtMs`.',
  running: 'An attempt runs in some process, or did when that was lost.',
  parked: "It stands in a budget's line; `nextAttemptAtMs` is the end of its patience.",
  undecided: 'An attempt was interrupted, and a person has to say what became of it: it has an open dead letter.',
  succeeded: 'It has a result.',
  failed: 'It stopped for a reason, and has an open dead letter.',
  cancelled: 'Somebody cancelled it.',
}

export const REFUSALS = {
  conflict: 'There is a task with this id and another input.',
  policy_changed: 'It was begun with another policy; `changes` has the fields.',
  not_found: 'There is no task with this id.',
  finished: 'There is nothing to reset or to decide.',
  not_waiting: '`retryNow` of a task that does not wait.',
  not_failed: 'A change of a dead letter whose task has not failed.',
  state_refused: 'What the ledger says of it cannot be; the message has every fault.',
  locked: 'Another process conducts the run; the message says which.',
  run_lost: 'The run was cancelled or taken over: this process begins nothing more of it.',
  task_lost: 'The checkpoint was not written: the execution has ended, or another process has the task.',
  closed: 'The durable tasks were closed, or take no more work.',
}

export const GATE_REFUSALS = {
  not_found: 'The ledger has no breaker or budget of this name; the message suggests one.',
  nothing_to_grant: 'The budget is of a type that cannot be given more, or is full.',
  state_refused:
    'What the ledger says of these gates cannot be; `gates` has their keys, the message every fault. Reset them.',
}

export const PROBLEMS = {
  unusable: 'It cannot be opened or written: nothing more is written through it.',
  busy: 'Another program has held its lock for 30 s.',
  unreachable: 'Its server does not answer: what was not written can be asked for again.',
  missing: 'There is nothing at the address, and `create: false` made nothing.',
  newer_format: 'A newer version of the library wrote it.',
  corrupt: 'A row is not what the library wrote.',
  missing_driver: 'There is no driver for it here.',
  refused: 'What was asked of it makes no sense, such as forgetting a task that is not finished.',
  closed: 'It was closed.',
}

export const RECORDED = {
  resumed: 'Taken over from a lost process.',
  interrupted: 'The attempt in flight was interrupted; `orderly` if by a stop.',
  reset: 'A fresh set of attempts.',
  cancelled: 'Cancelled.',
  retry_now: 'Somebody ended its wait.',
  decided: 'A person or `verify` said what became of an interrupted attempt.',
  policy_accepted: 'It took a new policy.',
  input_changed: 'It failed, and somebody gave it another input; the event has the old one.',
  acknowledged: 'Somebody closed its dead letter without a retry.',
  compacted: 'Older rows of its history were removed; `detail` says how many.',
  migrated: 'It was from before there was a retry state, and has a fresh one.',
  run_started: 'A run began; its events have no task.',
  run_resumed: 'Somebody took the run up again.',
  run_finished: 'The run ended, or its process left it in order (`interrupted`).',
  run_changed: 'The run goes on with another definition.',
  gate_changed:
    'Somebody reset or tripped a breaker or granted to a budget; `detail` has which, why, before and after.',
  breaker_changed: 'An attempt has changed the phase of a breaker; `detail` has which, from what and to what.',
}
