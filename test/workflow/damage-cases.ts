/** Damaged records one by one, in the runs that `damaged-records.test.ts` has made. Imports nothing. */

/** What is put where, which command meets it, and what it says. */
export const CASES: readonly (readonly [what: string, sql: string, command: readonly string[], said: RegExp])[] = [
  [
    'an empty breaker',
    `UPDATE gates SET state = '{}' WHERE key = 'breaker:mail'`,
    ['resume', 'w1'],
    /breaker mail \(its state is missing/,
  ],
  [
    'a breaker that failed less than never',
    `UPDATE gates SET state = replace(state, '"failures":', '"failures":-3') WHERE key = 'breaker:db'`,
    ['breakers', 'list'],
    /breaker db \(it counts -3\d failures\)/,
  ],
  [
    'a count that used less than nothing',
    `UPDATE gates SET state = '{"used":-7,"keys":[]}' WHERE key LIKE 'budget:few%'`,
    ['budgets', 'list'],
    /budget few@r1 \(its state cannot be/,
  ],
  [
    'a breaker of a new run',
    `UPDATE gates SET state = '[]' WHERE key = 'breaker:db'`,
    ['run', 'well.yaml'],
    /breaker db \(its state is \[\]/,
  ],
  [
    'a run without notes',
    `UPDATE runs SET detail = 'null' WHERE id = 'w1'`,
    ['resume', 'w1'],
    /run w1 is invalid.*detail is null.*; nothing was changed/,
  ],
  [
    'a run without notes in the list',
    `UPDATE runs SET detail = '7' WHERE id = 'r1'`,
    ['ps'],
    /run r1 is invalid.*detail is 7/,
  ],
  ...[
    ['show', 'r1'],
    ['dlq', 'retry', 'r1'],
    ['resume', 'r1'],
    ['rerun', 'r1', '--from', 'ok'],
  ].map(
    (command) =>
      [
        `a run whose notes have other fields, ${command.join(' ')}`,
        `UPDATE runs SET detail = '{"a":1}' WHERE id = 'r1'`,
        command,
        /run r1 is invalid \(detail.cwd is missing.*detail.documentDir is missing.*detail.params is missing/,
      ] as const,
  ),
  [
    'a run whose document is none',
    `UPDATE runs SET definition = '[]' WHERE id = 'r1'`,
    ['show', 'r1'],
    /run r1 is invalid.*its document/,
  ],
  [
    'a step without a state',
    `UPDATE tasks SET progress = '[]' WHERE id = 'quick'`,
    ['resume', 'w1'],
    /w1\/quick is left as it is: there is no retry state/,
  ],
  [
    'a step whose failure is none',
    `UPDATE tasks SET progress = replace(progress, '"lastFailure":', '"lastFailure":5,"x":') WHERE id = 'down'`,
    ['show', 'r1'],
    /r1\/down is left as it is: progress.lastFailure is 5/,
  ],
  ...[
    ['show', 'r1'],
    ['show', 'r1', 'down'],
    ['events', 'r1'],
  ].map(
    (command) =>
      [
        `an attempt whose failure is none, ${command.join(' ')}`,
        `UPDATE attempts SET failure = '{}' WHERE failure IS NOT NULL`,
        command,
        /The record of attempt 1 of step r1\/\w+ is invalid: failure.name is missing/,
      ] as const,
  ),
  [
    'who has a group',
    `UPDATE gates SET state = '{"holder":{"run":[]}}' WHERE key = 'record:run-group/deploy'`,
    ['run', 'grouped.yaml', '--run-id', 'new'],
    /The record of group deploy is invalid \(state.holder.run is \[\]/,
  ],
  [
    'an attempt of an item whose failure is none',
    `UPDATE attempts SET failure = '[1]' WHERE failure IS NOT NULL`,
    ['dlq', 'show', 'm1/map', 'b'],
    /The record of attempt 1 of step m1\/map\S* is invalid: failure is \[1\]/,
  ],
  ...[
    ['dlq', 'list'],
    ['dlq', 'show', 'r1', 'down'],
    ['dlq', 'export', 'r1', '--format', 'ndjson'],
  ].map(
    (command) =>
      [
        `a dead letter whose failure is none, ${command.join(' ')}`,
        `UPDATE dead SET failure = '7' WHERE scope = 'r1'`,
        command,
        /The record of the dead letter of step r1\/down is invalid: failure is 7/,
      ] as const,
  ),
  [
    'a policy without attempts',
    `UPDATE policies SET policy = '{"attempts":{}}'`,
    ['show', 'r1'],
    /The record of policy \w+ is invalid: policy.attempts is \{\}/,
  ],
]
