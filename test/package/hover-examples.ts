/**
 * The examples of documentation comments as programs. An example that is an object is one of the type that it stands
 * in; any other is statements. Public names are imported from their entries; `PRELUDE` has what stands for the reader's
 * own program.
 */
import path from 'node:path'
import { parseAst } from 'rolldown/parseAst'
import { stableEntries } from '../../scripts/api.mjs'
import { isTypeOnly } from '../../scripts/declarations.mjs'
import type { Shown } from '../../scripts/hover.mjs'
import { root } from './packed.js'

const PRELUDE = `
import type * as reprise from 'reprise'
import type * as core from 'reprise/core'
import type { Durable, Ledger, TaskHandle, TaskKey, TransactionClient, View } from 'reprise/durable'
import type { BatchContext } from 'reprise/internal'
import type { Metrics } from 'reprise/observe'
import type { VirtualClock } from 'reprise/testing'
import type { Plan } from '@reprise/workflow'
import type { Gate } from '@reprise/dashboard'
import type { Job, Jobs, JobWorker } from '@reprise/jobs'
type Run = Awaited<ReturnType<Durable['runs']['start']>>
declare global {
  const executor: reprise.Executor
  const policy: reprise.Policy
  const clock: VirtualClock & Required<reprise.Clock>
  const budget: Required<reprise.Budget>
  const request: reprise.BudgetRequest
  const outcome: reprise.AttemptOutcome
  const state: core.RetryState
  const breaker: core.Breaker
  const durable: Durable
  const ledger: Ledger
  const view: View
  const key: TaskKey
  const client: TransactionClient
  const charge: TaskHandle<{ order: string }, string>
  const run: Run
  const step: ReturnType<Run['step']>
  const items: ReturnType<typeof run.items<{ url: string }, null>>
  const batch: BatchContext
  const metrics: Metrics
  const plan: Plan
  const jobs: Jobs
  const gate: Gate
  const job: Job
  const worker: JobWorker
  const waking: { serve(one: Durable, queues: readonly string[]): void; leave(one: Durable): void }
  const error: unknown
  function fetchPrice(item: string, signal?: AbortSignal): Promise<number>
}
`

/** Types that a module keeps for itself, and those with parameters, as a program can say them. */
const TYPE_OF_EXAMPLE: Readonly<Record<string, string>> = {
  AllotmentReasons: "NonNullable<Allotment['reasons']>",
  WorkflowOptions: 'RunWorkflowOptions',
  ResumeChoices: 'ResumeWorkflowOptions',
  StrictOptions: 'ExecutorOptions',
  PolicyInput: 'PolicyInput<Response>',
  LinearParameters: "Extract<BackoffInput, { type: 'linear' }>",
  ExponentialParameters: "Extract<BackoffInput, { type: 'exponential' }>",
  DelayList: "Extract<BackoffInput, { type: 'custom' }>",
  DelayFormula: "Extract<BackoffInput, { type: 'custom' }>",
  BudgetRefFields: "Exclude<PolicyInput['budget'], string | undefined>",
  HedgeBudgetFields: "Exclude<HedgeInput['budget'], string | undefined>",
}

/** By file name. */
export function examplePrograms(all: readonly Shown[]): ReadonlyMap<string, string> {
  const programs = new Map([['prelude.ts', PRELUDE]])
  const known = new Set<string>()
  for (const shown of all) {
    for (const example of shown.doc?.examples ?? []) {
      const name = [shown.type, shown.member].join('-').replaceAll(/\W+/g, '-').replace(/-$/, '')
      const id = `${shown.kind === 'property' ? shown.type : ''}${example}`
      if (known.has(id)) continue
      known.add(id)
      programs.set(`${known.size}-${name}.ts`, program(example, shown))
    }
  }
  return programs
}

function program(example: string, shown: Shown): string {
  const code = example.startsWith('{') ? `void (${example} satisfies ${typeOf(shown)})` : example
  return [...imports(code), ...typeImport(shown, code), code, 'export {}', ''].join('\n')
}

const isPublicName = (name: string): boolean => ENTRY_OF.has(name)

function typeOf({ type, parameters, isUnion }: Shown): string {
  const args = Array<string>(parameters).fill('unknown').join(', ')
  const name = TYPE_OF_EXAMPLE[type] ?? (parameters === 0 ? type : `${type}<${args}>`)
  return isUnion ? name : `Partial<${name}>`
}

/** The type of an object, where no entry exports it: from its source. */
function typeImport({ type, file }: Shown, code: string): string[] {
  if (isPublicName(type) || type in TYPE_OF_EXAMPLE || !code.includes('satisfies')) return []
  const source = path.relative(path.join(root, 'test/package/.hover-examples'), path.join(root, file))
  return [`import type { ${type} } from '${source.replace(/\.ts$/, '.js')}'`]
}

const ENTRY_OF: ReadonlyMap<string, { readonly entry: string; readonly isType: boolean }> = new Map(
  stableEntries().flatMap(({ name: entry, exported }) =>
    [...exported].map(([name, target]) => [name, { entry, isType: isTypeOnly(target) }] as const),
  ),
)

/** One line for each public name that the code uses and does not declare. */
function imports(code: string): string[] {
  const { used, declared } = namesIn(parseAst(code, { lang: 'ts' }))
  return [...used]
    .filter((name) => isPublicName(name) && !declared.has(name))
    .map((name) => {
      const { entry, isType } = ENTRY_OF.get(name) as { entry: string; isType: boolean }
      return `import ${isType ? 'type ' : ''}{ ${name} } from '${entry}'`
    })
}

interface Names {
  readonly used: Set<string>
  readonly declared: Set<string>
}

/** Identifiers that are no keys of objects and members, and those that are variables of the code itself. */
function namesIn(value: unknown, names: Names = { used: new Set(), declared: new Set() }): Names {
  if (typeof value !== 'object' || value === null) return names
  const node = value as Readonly<Record<string, unknown>>
  if (node['type'] === 'Identifier') names.used.add(node['name'] as string)
  const binding = (node['type'] === 'VariableDeclarator' ? node['id'] : node['local']) as { name?: string } | undefined
  if (binding?.name !== undefined) names.declared.add(binding.name)
  for (const [field, child] of Object.entries(node)) {
    const isKey = (field === 'key' && node['shorthand'] !== true) || field === 'property'
    if (!isKey || node['computed'] === true) namesIn(child, names)
  }
  return names
}
