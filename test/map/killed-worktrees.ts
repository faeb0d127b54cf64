/**
 * A run with a map in working trees, killed at random moments in every phase. Whatever an attempt has done is found in a
 * commit afterwards, and every item is merged once. Imports the kill run and the repository.
 */
import type { Ledger } from '../../packages/reprise/src/ledger/ledger.js'
import { scopeOfRun } from '../../packages/reprise/src/ledger/records.js'
import { RandomKillRun, RUN } from '../workflow/random-kill-run.js'
import { GitScene } from './git-scene.js'

const MAP = `${RUN}/map`
const ITEMS = 10
const MAX_PARALLEL = 3

/** Every fourth item fails at its first attempt; all change a file of their own and leave a proof that they ran. */
const WORK = [
  'cd "$(git rev-parse --show-toplevel)"',
  'echo "$REPRISE_TASK_ID $REPRISE_ATTEMPT $CONDUCTOR $(date +%s%3N)" >> "$REPRISE_RUN_DIRECTORY/starts"',
  'proof="proof-$REPRISE_ITEM_INDEX-$CONDUCTOR-$$"',
  'echo x > "$proof"; echo "$proof" >> "$REPRISE_RUN_DIRECTORY/proofs"',
  'sleep 0.02',
  'echo "done ${item}" >> "file-${item}"',
  'if [ $(( REPRISE_ITEM_INDEX % 4 )) = 1 ] && [ "$REPRISE_ATTEMPT" = 1 ]; then exit 8; fi',
].join('\n')

const WORKFLOW = {
  mode: 'mapreduce',
  name: 'killed',
  map: {
    input: { range: [1, ITEMS] },
    max_parallel: MAX_PARALLEL,
    isolation: 'worktree',
    agent_template: [{ id: 'work', shell: WORK }],
  },
  merge: [{ shell: 'ls file-* | wc -l > merged' }],
  error_policy: { item_retry: { attempts: 3, initial_delay: '10ms' } },
}

export class KilledWorktrees extends RandomKillRun {
  private readonly fixture: GitScene

  constructor(seed: number, batch = 1) {
    const map =
      batch === 1 ? WORKFLOW.map : { ...WORKFLOW.map, batch, agent_template: [{ id: 'work', shell: BATCH_WORK }] }
    super(seed, { workflow: { ...WORKFLOW, map }, mostStarts: 5, orderlyShare: 0.25, exitCodes: [0] })
    this.fixture = new GitScene(this.cli, { README: 'begin\n' })
  }

  protected async faultsOf(ledger: Ledger): Promise<string[]> {
    const tasks = await ledger.list({ ...scopeOfRun(MAP) })
    const over = tasks.filter(({ progress }) => (progress.retry?.launched ?? 0) > 3)
    return over.map(({ id }) => `${id} was begun more than three times`)
  }

  protected async faultsAtEnd(): Promise<string[]> {
    const faults: string[] = []
    const merged = this.fixture.merged()
    if (new Set(merged).size !== merged.length) faults.push(`items were merged twice: ${merged.join()}`)
    if (merged.length !== ITEMS) faults.push(`${merged.length} of ${ITEMS} items were merged`)
    for (let item = 1; item <= ITEMS; item++) {
      const text = this.cli.read(`file-${item}`)
      if (text !== `done ${item}\n`) faults.push(`the file of item ${item} is ${JSON.stringify(text)}`)
    }
    const committed = this.fixture.everCommitted()
    const proofs = this.cli.read('proofs').split('\n').filter(Boolean)
    for (const proof of proofs) if (!committed.has(proof)) faults.push(`${proof} is in no commit`)
    if (this.fixture.trees() > 0) faults.push(`${this.fixture.trees()} working trees are left`)
    if (this.cli.read('merged').trim() !== String(ITEMS)) faults.push(`the merge step saw ${this.cli.read('merged')}`)
    return faults
  }
}

/** The same for the items of a batch: one of them fails alone at its first attempt. */
const BATCH_WORK = [
  `items=$(sed -n 's/.*"key":"\\([0-9]*\\)","index":\\([0-9]*\\).*"attempt":\\([0-9]*\\).*/\\1:\\2:\\3/p' "$REPRISE_ITEMS_FILE")`,
  'proof="proof-$REPRISE_TASK_ID-$CONDUCTOR-$$"',
  'echo x > "$proof"; echo "$proof" >> "$REPRISE_RUN_DIRECTORY/proofs"',
  'for one in $items; do IFS=: read -r key index attempt <<< "$one"',
  'echo "$(printf %07d "$index").$key $attempt $CONDUCTOR $(date +%s%3N)" >> "$REPRISE_RUN_DIRECTORY/starts"',
  'if [ $(( index % 4 )) = 1 ] && [ "$attempt" = 1 ]; then echo "{\\"key\\":\\"$key\\",\\"error\\":\\"no\\"}" >> "$REPRISE_RESULTS"; else',
  'echo "done $key" >> "file-$key"; fi; done; sleep 0.02',
  'if [ "$REPRISE_BATCH_SIZE" -gt 1 ] && [ -e "file-10" ]; then exit 8; fi',
].join('\n')
