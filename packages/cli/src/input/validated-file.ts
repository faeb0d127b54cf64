/** Everything that is wrong with a file, as a value. Imports the reading of files and plans. */
import { InputError, type Problem } from '@reprise/workflow'
import {
  isWorkflow,
  readBudgetSection,
  type Readers,
  readersFor,
  readPolicies,
  readTogether,
  type Source,
  STDIN,
  stepNotes,
} from '@reprise/workflow/internal'
import type { CommandContext } from '../command-context.js'
import { openSource } from './open-source.js'

export interface ValidatedFile {
  readonly file: string
  readonly ok: boolean
  /** What was found in it; null if it could not be told. */
  readonly kind: 'workflow' | 'policy' | null
  /** Of a workflow. */
  readonly steps?: number
  readonly problems: readonly Problem[]
  /** What is allowed but odd. */
  readonly notes: readonly string[]
}

/** The error carries the text, for showing the lines. */
export interface Validation {
  readonly result: ValidatedFile
  readonly error?: InputError
}

export async function validateFile(name: string, context: CommandContext): Promise<Validation> {
  let source: Source | undefined
  try {
    source = await openSource(name, context)
    return { result: read(source, await readersFor(source)) }
  } catch (error) {
    if (!(error instanceof InputError)) throw error
    const kind = source === undefined ? null : kindOf(source)
    const file = source?.file ?? (name === '-' ? STDIN : name)
    return { result: { file, ok: false, kind, problems: error.problems, notes: [] }, error }
  }
}

function read(source: Source, readers: Readers): ValidatedFile {
  const { file } = source
  if (isWorkflow(source)) {
    const { policies } = readPolicies(source, readers)
    return { file, ok: true, kind: 'workflow', steps: policies.length, problems: [], notes: stepNotes(policies) }
  }
  const [{ policies, unread }] = readTogether(
    () => readPolicies(source, readers),
    () => readBudgetSection(source),
  )
  const keys = unread.filter((key) => key !== 'budgets').map((key) => `\`${key}\``)
  const notes = policies.flatMap((policy) => policy.notes)
  return {
    file,
    ok: true,
    kind: 'policy',
    problems: [],
    notes: keys.length === 0 ? notes : [...notes, `Not looked at: ${keys.join(', ')}.`],
  }
}

function kindOf(source: Source): 'workflow' | 'policy' {
  return isWorkflow(source) ? 'workflow' : 'policy'
}
