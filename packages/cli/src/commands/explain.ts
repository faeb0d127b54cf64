/** `reprise explain [FILE] [STEP]`: what a policy does, before it does it. Imports input, explanation and output. */
import {
  explain,
  type Explanation,
  type FoundPolicy,
  isJob,
  pickStep,
  policyInput,
  readersFor,
  readPolicies,
  type Source,
} from '@reprise/workflow/internal'
import { normalizePolicy, type PolicyInput } from 'reprise'
import { plainText } from 'reprise/internal'
import type { ParsedArguments } from '../command.js'
import type { CommandContext } from '../command-context.js'
import { UsageError } from '../failures.js'
import type { PolicyFlagTexts } from '../flag-table.js'
import { openSource } from '../input/open-source.js'
import { readPolicyFields } from '../input/policy-fields.js'
import { showExplanation, showOverview } from '../output/explanation.js'
import { writeJson } from '../output/json.js'
import { displayFor } from '../output/display.js'
import { commandWords } from '../output/next-commands.js'
import { wrapText } from '../output/wrap.js'
import { writePage } from '../output/github-commands.js'

type Given = ParsedArguments<{ readonly file?: string; readonly step?: string }, PolicyFlagTexts>

interface Read {
  readonly file: string | null
  readonly policies: readonly Omit<FoundPolicy, 'name'>[]
  /** Keys of the file that were not checked. */
  readonly unread: readonly string[]
}

export async function run({ values: { file: name, step }, options }: Given, context: CommandContext): Promise<void> {
  const { io, settings } = context
  const fields = readPolicyFields(options)
  const source = name === undefined ? undefined : await openSource(name, context)
  if (source !== undefined && isJob(source)) return explainJobFile(source, step, fields, context)
  const { file, policies, unread } = source === undefined ? readFlags(fields) : await readFile(source, step, fields)
  const explanations = policies.map(explain)
  if (settings.json) return writeJson(io.stdout, { file, policies: explanations })

  const display = displayFor(io, settings)
  const [only, ...others] = explanations
  if (only !== undefined && others.length === 0) writePage(io, showExplanation(only, titleOf(only, file), display))
  else writePage(io, showOverview(explanations, file ?? '', display))
  if (settings.quiet) return
  const { screen } = displayFor(io, settings, io.stderr)
  const say = (text: string): unknown => io.stderr.write(`\n${wrapText('', text, screen).join('\n')}\n`)
  const command = commandWords(settings, io.env)(['explain', name ?? '', 'STEP'])
  if (others.length > 0) say(`\`${command}\` shows one step in full.`)
  const keys = plainText(unread.map((key) => `\`${key}\``).join(', '))
  if (keys !== '') say(`Not looked at: ${keys}.`)
}

/** As `exec` would have it with the same flags. */
function readFlags(fields: PolicyInput): Read {
  if (Object.keys(fields).length === 0)
    throw new UsageError('there is no policy to explain', 'name a file, or give flags such as `--attempts 5`')
  return { file: null, policies: [{ step: null, role: 'alone', starts: null, ...normalizePolicy(fields) }], unread: [] }
}

/** What the flags say stands over what the file says. */
async function readFile(source: Source, step: string | undefined, fields: PolicyInput): Promise<Read> {
  const { file } = source
  const found = readPolicies(source, await readersFor(source))
  const policies = step === undefined ? found.policies : [pickStep(found, step, file)]
  if (Object.keys(fields).length === 0) return { file, policies, unread: found.unread }
  const changed = policies.map((one) => ({
    step: one.step,
    role: one.role,
    ...(one.until !== undefined && { until: one.until }),
    // How often items are tried is not what the flags are about.
    starts: null,
    ...normalizePolicy({ ...policyInput(one.policy), ...fields }),
  }))
  return { file, policies: changed, unread: found.unread }
}

/** A job has no policy of its own: its budgets, and how it ends. */
async function explainJobFile(
  source: Source,
  workflow: string | undefined,
  fields: PolicyInput,
  context: CommandContext,
): Promise<void> {
  const { io, settings } = context
  if (workflow !== undefined) throw new UsageError('a job has no steps', 'explain the file of one of its workflows')
  if (Object.keys(fields).length > 0) throw new UsageError('a job has no policy that flags could change')
  const { explainJob, readJobFile, readOperatorSettings } = await import('@reprise/jobs/internal')
  const { showJobExplanation } = await import('../output/jobs/job-explanation.js')
  const { request, file } = await readJobFile(source)
  const explanation = explainJob(request, readOperatorSettings(io.env))
  if (settings.json) return writeJson(io.stdout, { file, job: explanation })
  writePage(io, showJobExplanation(explanation, file, displayFor(io, settings)))
}

function titleOf({ step, role }: Explanation, file: string | null): string {
  if (file === null) return 'the policy of the flags'
  if (step === null) return file
  return role === 'item' ? `${file} · items of ${step}` : `${file} · step ${step}`
}
