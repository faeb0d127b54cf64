/** Everything that is wrong with a file, as a value. Imports documents, plans and values. */
import { InputError, type Problem, readTogether, STDIN } from '../document/problem.js'
import { isJob } from '../document/job-file.js'
import { isWorkflow } from '../document/policy-file.js'
import { readBudgetSection } from '../document/budget-section.js'
import { hasFields } from '../document/located.js'
import type { Readers } from '../plan/readers.js'
import { readersFor } from '../values/document-readers.js'
import { type FoundPolicy, readPolicies, stepNotes } from '../plan/found-policies.js'
import type { Source } from '../document/source.js'

export interface ValidatedFile {
  readonly file: string
  readonly ok: boolean
  /** What was found in it; null if it could not be told. */
  readonly kind: 'workflow' | 'policy' | 'job' | null
  /** Of a workflow. */
  readonly steps?: number
  /** Of a job. */
  readonly workflows?: number
  readonly problems: readonly Problem[]
  /** What is allowed but odd. */
  readonly notes: readonly string[]
}

/** The error carries the text, for showing the lines. */
export interface Validation {
  readonly result: ValidatedFile
  readonly error?: InputError
}

/** How a file of `mode: job` is read: by the package of jobs, which this one does not know. */
type JobReader = (source: Source) => Promise<{ readonly workflows: number; readonly notes: readonly string[] }>

/** `name`: as it was given, `-` for stdin. `open`: reads and parses it. */
export async function validateSource(
  name: string,
  open: () => Promise<Source>,
  readJob: JobReader,
): Promise<Validation> {
  let source: Source | undefined
  try {
    source = await open()
    if (isJob(source)) {
      const { file } = source
      return { result: { file, ok: true, kind: 'job', problems: [], ...(await readJob(source)) } }
    }
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
    const { policies, steps } = readPolicies(source, readers)
    return {
      file,
      ok: true,
      kind: 'workflow',
      steps,
      problems: [],
      notes: [...stepNotes(policies), ...jitterNotes(source, policies)],
    }
  }
  const [{ policies, unread }] = readTogether(
    () => readPolicies(source, readers),
    () => readBudgetSection(source),
  )
  const keys = unread.filter((key) => key !== 'budgets').map((key) => `\`${key}\``)
  const notes = [...policies.flatMap((policy) => policy.notes), ...jitterNotes(source, policies)]
  return {
    file,
    ok: true,
    kind: 'policy',
    problems: [],
    notes: keys.length === 0 ? notes : [...notes, `Not looked at: ${keys.join(', ')}.`],
  }
}

/** Files have no jitter unless they say so: the waits of a file are those that are written there. */
function jitterNotes({ value }: Source, policies: readonly FoundPolicy[]): string[] {
  const isExact = ({ policy: { attempts, jitter, backoff } }: FoundPolicy): boolean =>
    attempts > 1 && jitter === 'none' && backoff.type !== 'fixed' && backoff.type !== 'custom'
  return !policies.some(isExact) || saysJitter(value)
    ? []
    : ['Without jitter, callers that failed together return together: `jitter: full` spreads them, `none` is as it is.']
}

function saysJitter(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(saysJitter)
  return hasFields(value) && (Object.hasOwn(value, 'jitter') || Object.values(value).some(saysJitter))
}

function kindOf(source: Source): 'workflow' | 'policy' | 'job' {
  if (isJob(source)) return 'job'
  return isWorkflow(source) ? 'workflow' : 'policy'
}
