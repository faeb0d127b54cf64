/** What the reader of shell text finds: our references, and where they are. Imports types only. */
import type { Reference } from './reference.js'

/** What surrounds it, innermost first: the one thing that decides how a value can be put there. */
export type ShellContext =
  | 'plain'
  | 'double'
  | 'single'
  | 'dollar_single'
  | 'heredoc'
  | 'quoted_heredoc'
  | 'arithmetic'
  | 'backticks'
  | 'parameter'

export interface ShellFind {
  /** From the `$` to behind the closing brace, in UTF-16 units. */
  readonly start: number
  readonly end: number
  /** null: `$${`, of which the first `$` goes. */
  readonly reference: Reference | null
  readonly context: ShellContext
  /** Why no value can be put there; null: it can. */
  refusal: string | null
}

/** Why no value can be there, whatever the command is. */
export const REFUSALS: Readonly<Partial<Record<ShellContext, string>>> = {
  arithmetic: 'in arithmetic, where bash executes what the value names; use `expr "${…}" + 1`',
  backticks: 'within backticks; write `$(…)` instead of them',
  parameter: "within the shell's own `${…}`; write `value=${…}` first, and use `$value` there",
  quoted_heredoc:
    'in a here-document with a quoted end, where nothing is filled in; leave the quotes out, or write `$${` for the text itself',
}
