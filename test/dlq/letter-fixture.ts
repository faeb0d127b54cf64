/**
 * A directory with a map whose items can be told to fail, redriven by the command line in this process or in one of its
 * own. An item fails while there is a file `fail-KEY`; every attempt notes its key in `starts`. Imports the fixture of
 * workflows.
 */
import { readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import type { RunRecord } from 'reprise/durable'
import type { LetterDetail, LetterGroup, LetterView } from '@reprise/workflow/internal'
import { repriseInProcess } from '../workflow/cli-in-process.js'
import { CliFixture } from '../workflow/cli-fixture.js'

export interface MapText {
  readonly items?: readonly unknown[]
  /** Further lines of shell text, before the item fails or succeeds. */
  readonly before?: string
  /** The exit code of an item that fails. */
  readonly exitCode?: number
  readonly errors?: Readonly<Record<string, unknown>>
  readonly map?: Readonly<Record<string, unknown>>
  readonly reduce?: readonly unknown[]
}

export interface Answered {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export class LetterFixture extends CliFixture {
  constructor({
    items = ['a', 'b', 'c', 'd', 'e', 'f'],
    before = '',
    exitCode = 75,
    errors,
    map,
    reduce,
  }: MapText = {}) {
    const shell = `echo "\${item.key} $REPRISE_ATTEMPT" >> starts\n${before}\n[ ! -e "fail-\${item.key}" ] || exit ${exitCode}`
    const template = [{ shell }]
    const document = {
      name: 'import',
      mode: 'mapreduce',
      map: { input: items, max_parallel: 2, agent_template: template, ...map },
      ...(reduce && { reduce }),
      ...(errors && { error_policy: errors }),
    }
    super(JSON.stringify(document))
  }

  fail(...keys: string[]): void {
    for (const key of keys) this.write(`fail-${key}`, '')
  }

  mend(...keys: string[]): void {
    for (const key of keys) rmSync(this.path(`fail-${key}`))
  }

  /** A run begins in a process of its own, in the directory of the fixture; what is known of it suffices for all else. */
  async here(...args: string[]): Promise<Answered> {
    const isRun = args[0] === 'run'
    const { code, stdout, stderr } = await (isRun ? this.reprise(...args) : repriseInProcess(this, ...args))
    return { code: code as number, stdout, stderr }
  }

  async json<T>(...args: string[]): Promise<T> {
    const { stdout, stderr } = await this.here(...args, '--json')
    if (stdout === '') throw new Error(`nothing was printed: ${stderr}`)
    return JSON.parse(stdout) as T
  }

  async letters(...args: string[]): Promise<readonly LetterView[]> {
    return (await this.json<{ letters: LetterView[] }>('dlq', 'list', ...args)).letters
  }

  async groups(...args: string[]): Promise<readonly LetterGroup[]> {
    return (await this.json<{ groups: LetterGroup[] }>('dlq', 'groups', ...args)).groups
  }

  showLetter(...args: string[]): Promise<LetterDetail> {
    return this.json('dlq', 'show', ...args)
  }

  /** Keys of the attempts so far. */
  starts(): string[] {
    return this.read('starts')
      .split('\n')
      .filter(Boolean)
      .map((line) => line.split(' ')[0] ?? '')
  }

  async state(run = 'r1'): Promise<string | undefined> {
    return this.ledger(async (ledger) => (await ledger.run(run))?.status)
  }

  /** How many items are in each class, from the tally and counted: the same, always. */
  async counts(): Promise<Record<string, number>> {
    return this.ledger(async (ledger) => {
      const sums: Record<string, number> = {}
      for (const { name: _name, ...tally } of await ledger.tallies({ prefix: 'r1/map/' }))
        for (const [word, count] of Object.entries(tally)) sums[word] = (sums[word] ?? 0) + count
      const tasks = await ledger.list({ scopeKind: 'run', scope: 'r1/map' })
      const { total = 0, ...classes } = sums
      const added = Object.values(classes).reduce((sum, count) => sum + count, 0)
      if (total !== tasks.length || added !== total) throw new Error(`the tally says ${JSON.stringify(sums)}`)
      return sums
    })
  }

  /** Items in a results file of the map, which stands where the map has noted it. */
  async results(kind: string): Promise<{ readonly key: string; readonly state: string }[]> {
    const record = await this.ledger((ledger) => ledger.run('r1/map'))
    const { resultsFile } = (record as RunRecord).detail as unknown as { readonly resultsFile: string }
    return readFileSync(path.join(path.dirname(resultsFile), `${kind}.ndjson`), 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as { key: string; state: string })
  }
}
