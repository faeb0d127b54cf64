/**
 * A file of `mode: job` as a request: files that it names are read and embedded, and every workflow is checked, so that
 * nothing is submitted that a worker could not read. Every problem has its line and column. Imports the workflow package
 * and the rules.
 */
import path from 'node:path'
import { InputError } from '@reprise/workflow'
import type { Plan } from '@reprise/workflow'
import {
  Findings,
  follow,
  loadPlan,
  parseSource,
  readJobFields,
  readText,
  STDIN,
  wholeOf,
} from '@reprise/workflow/internal'
import type { Source } from '@reprise/workflow/internal'
import type { Json } from 'reprise/durable'
import { didYouMean } from 'reprise/internal'
import { checkJobRequest, type JobRequest } from '../rules/job-request.js'
import { paramsAt } from '../rules/job-workflow.js'

/** A job that was read from a file. */
export interface JobFile {
  readonly request: JobRequest
  /** What is submitted: the same as fields of the wire, with the files embedded. */
  readonly submission: Readonly<Record<string, Json>>
  /** What each workflow does, by its name; a workflow that names a handler has none. */
  readonly plans: ReadonlyMap<string, Plan>
  /** Where the file is: relative paths of its workflows start there. */
  readonly directory: string
  /** What messages call the file. */
  readonly file: string
  /** What is allowed but odd. */
  readonly notes: readonly string[]
}

interface WorkflowFields {
  readonly name: string
  readonly file?: string
  readonly document?: Json
  readonly handler?: string
}

type JobFields = Readonly<Record<string, Json>> & { readonly workflows: readonly WorkflowFields[] }

/** Throws an `InputError` with every problem of the file, or of the first of its workflows that has any. */
export async function readJobFile(source: Source): Promise<JobFile> {
  const findings = new Findings(source)
  const { mode: _, ...fields } = (readJobFields(findings) ?? {}) as unknown as JobFields & { mode?: Json }
  findings.done()
  const directory = source.file === STDIN ? process.cwd() : path.dirname(path.resolve(source.file))
  const texts = await embeddedTexts(findings, fields.workflows, directory)
  const workflows = fields.workflows.map((workflow, index) => ({ ...workflow, ...texts[index] }))
  const submission = { name: nameFor(source.file), ...fields, workflows } as unknown as JobFile['submission']
  const { request, problems } = checkJobRequest(submission)
  const whole = wholeOf(source)
  for (const problem of problems)
    findings.fail(follow(source, whole, problem.path), problem.message, problem.suggestion)
  findings.done()
  if (request === undefined) throw new Error('a job without problems was not read')
  const { plans, notes } = await plansOf(findings, request, directory)
  return { request, submission, plans, directory, file: source.file, notes }
}

/** The name of the file, as far as it can be one. */
function nameFor(file: string): string {
  if (file === STDIN) return 'job'
  return (
    path
      .parse(file)
      .name.replaceAll(/[^A-Za-z0-9._-]+/g, '-')
      .replace(/^[^A-Za-z0-9]+/, '')
      .slice(0, 100) || 'job'
  )
}

async function embeddedTexts(
  findings: Findings,
  workflows: readonly WorkflowFields[],
  directory: string,
): Promise<readonly { readonly document?: string }[]> {
  const texts = await Promise.all(
    workflows.map(async ({ file }, index) => {
      if (file === undefined) return {}
      try {
        const { text } = await readText(path.resolve(directory, file))
        return { document: text }
      } catch (error) {
        if (!(error instanceof InputError)) throw error
        const [problem] = error.problems
        const located = follow(findings.source, wholeOf(findings.source), `workflows[${index}].file`)
        findings.fail(located, `${file}: ${problem?.message ?? 'cannot be read'}`, problem?.suggestion)
        return {}
      }
    }),
  )
  findings.done()
  return texts
}

async function plansOf(
  findings: Findings,
  { workflows, datacenters }: JobRequest,
  directory: string,
): Promise<Pick<JobFile, 'plans' | 'notes'>> {
  const plans = new Map<string, Plan>()
  const notes: string[] = []
  const whole = wholeOf(findings.source)
  for (const [index, workflow] of workflows.entries()) {
    const { source, name } = workflow
    if (source.kind === 'handler') continue
    const place = `workflows[${index}]`
    const shown = source.file === null ? STDIN : path.relative(process.cwd(), path.resolve(directory, source.file))
    try {
      const { plan, notes: found } = await loadPlan(parseSource(shown, source.text), null)
      plans.set(name, plan)
      notes.push(...found.map((note) => `Workflow ${name}: ${note}`))
      checkParams(
        plan,
        datacenters.map((datacenter) => paramsAt(workflow, datacenter)),
      ).forEach(([param, message, cure]) => {
        findings.fail(follow(findings.source, whole, `${place}.params.${param}`), message, cure)
      })
    } catch (error) {
      // A document of its own file has lines to show; one that stands in the job is shown there.
      if (!(error instanceof InputError) || source.file !== null) throw error
      for (const { path: within = '', message, suggestion } of error.problems) {
        const located = follow(findings.source, whole, `${place}.document${within === '' ? '' : `.${within}`}`)
        findings.fail(located, message, suggestion)
      }
    }
  }
  findings.done()
  return { plans, notes }
}

type ParamFault = readonly [name: string, message: string, suggestion?: string]

/** Parameters that the workflow does not have, and those that it needs and a datacenter does not get. */
function checkParams({ params }: Plan, given: readonly Readonly<Record<string, Json>>[]): readonly ParamFault[] {
  const known = Object.keys(params)
  const faults = new Map<string, ParamFault>()
  for (const one of given) {
    for (const name of Object.keys(one)) {
      if (Object.hasOwn(params, name)) continue
      faults.set(name, [
        name,
        `the workflow has no parameter ${name}`,
        didYouMean(name, known) ?? `it has ${known.join(', ') || 'none'}`,
      ])
    }
    for (const name of known) {
      if (params[name] !== null || Object.hasOwn(one, name)) continue
      faults.set(name, [name, `the workflow needs the parameter ${name}`, `give it under \`params: {${name}: …}\``])
    }
  }
  return [...faults.values()]
}
