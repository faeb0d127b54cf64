/**
 * Which items of a map have been merged, as the commits of its branch say: each merge names its items in trailers. So a
 * merge can be recognised by whoever comes next, however the process that made it ended. Imports git.
 */
import { git } from './git.js'

const ITEM = 'Reprise-Item'
const ATTEMPT = 'Reprise-Attempt'
/** Stands in no id and in no name of an attempt. */
const FIELD = '%x1f'

/** What a merge says of itself. */
export interface MergeMark {
  /** Ids of the items whose work it has. */
  readonly items: readonly string[]
  /** The last part of the name of the branch that was merged. */
  readonly attempt: string
}

export function markedMessage(message: string, { items, attempt }: MergeMark): string {
  const trailers = [...items.map((item) => `${ITEM}: ${item}`), `${ATTEMPT}: ${attempt}`]
  return `${message}\n\n${trailers.join('\n')}\n`
}

export class MergedItems {
  private readonly cwd: string
  /** The commit up to which the branch was read. */
  private readUpTo: string
  /** The attempt that each was merged with. */
  private readonly attempts = new Map<string, string>()

  /** `base`: the commit that the branch began with. */
  constructor(cwd: string, base: string) {
    this.cwd = cwd
    this.readUpTo = base
  }

  /** Reads what has been merged since the last time. */
  async readTo(tip: string): Promise<ReadonlyMap<string, string>> {
    if (tip === this.readUpTo) return this.attempts
    const values = [ITEM, ATTEMPT].map((key) => `%(trailers:key=${key},valueonly,separator=%x2C)`)
    const format = `--format=${values.join(FIELD)}`
    // A person may have merged the branch into another one, which it was brought up to since.
    const text = await git(this.cwd, 'log', '--merges', '--reverse', format, `${this.readUpTo}..${tip}`)
    for (const line of text.split('\n')) {
      const [items = '', attempt = ''] = line.split('\u001F')
      for (const item of items.split(',')) if (item !== '') this.attempts.set(item, attempt)
    }
    this.readUpTo = tip
    return this.attempts
  }
}
