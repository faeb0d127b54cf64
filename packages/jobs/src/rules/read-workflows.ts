/**
 * The workflows of a job: sources, parameters, and a graph of `needs` without circles. Pure. Imports the readers.
 */
import type { Json } from 'reprise/durable'
import { didYouMean, expectJson, isNot, type Place } from 'reprise/internal'
import { type Fields, isGiven, knownFields, readFields, readName } from './field-readers.js'
import type { JobWorkflow, WorkflowSource } from './job-workflow.js'

/** A document is kept with the job, and read by every worker. */
export const MAX_DOCUMENT_BYTES = 1024 * 1024
/** Documents and parameters of all workflows together. */
export const MAX_JOB_BYTES = 8 * 1024 * 1024
const MAX_WORKFLOWS = 10_000
/** Each is a row of the ledger; submitting writes all of them in one transaction. */
const MAX_TASKS = 100_000

const FIELDS = ['name', 'file', 'document', 'handler', 'params', 'params_by_datacenter', 'needs']

export function readWorkflows(place: Place, value: unknown, datacenters: readonly string[]): readonly JobWorkflow[] {
  if (!Array.isArray(value) || value.length === 0) {
    place.fail('is empty: name at least one workflow, such as [{ name: probe, file: probe.yaml }]')
    return []
  }
  if (value.length > MAX_WORKFLOWS || value.length * datacenters.length > MAX_TASKS) {
    const most = `at most ${MAX_WORKFLOWS} workflows, and ${MAX_TASKS} over all datacenters`
    place.fail(`has ${value.length} workflows for ${datacenters.length} datacenters, and a job ${most}`)
    return []
  }
  const read = value.map((item, index) => readWorkflow(place.item(index), item, datacenters))
  checkNames(place, read)
  checkNeeds(place, read)
  checkSize(place, read)
  return read.filter((workflow) => workflow !== undefined)
}

function readWorkflow(place: Place, value: unknown, datacenters: readonly string[]): JobWorkflow | undefined {
  const given = readFields(place, value, 'a workflow: an object with `name` and `file`, `document` or `handler`')
  if (given === undefined) return undefined
  const fields = knownFields(place, given, FIELDS)
  const name = isGiven(fields['name'])
    ? readName(place.at('name'), fields['name'])
    : place.at('name').fail('is missing')
  const source = readSource(place, fields)
  const params = readParams(place.at('params'), fields['params'])
  const paramsByDatacenter = readOverrides(
    place.at('params_by_datacenter'),
    fields['params_by_datacenter'],
    datacenters,
  )
  const needs = readNeeds(place.at('needs'), fields['needs'])
  if (name === undefined || source === undefined) return undefined
  return { name, source, params, paramsByDatacenter, needs }
}

/** `file` beside `document` is what messages call it: reading files is the submitter's part. */
function readSource(place: Place, { file, document, handler }: Fields): WorkflowSource | undefined {
  const label = isGiven(file) ? readLabel(place.at('file'), file) : null
  if (isGiven(handler)) {
    if (isGiven(document) || isGiven(file)) {
      return place.at('handler').fail('names a function where `document` or `file` says what to run: leave one out')
    }
    const name = readName(place.at('handler'), handler)
    return name === undefined ? undefined : { kind: 'handler', handler: name }
  }
  if (!isGiven(document)) {
    if (isGiven(file)) return place.at('file').fail('its content is missing: embed it as `document`')
    return place.fail('says nothing to run: give it `file`, `document` or `handler`')
  }
  const text = typeof document === 'string' ? document : textOfData(place.at('document'), document)
  if (text === undefined || label === undefined) return undefined
  const bytes = Buffer.byteLength(text)
  if (bytes > MAX_DOCUMENT_BYTES) {
    return place
      .at(isGiven(file) ? 'file' : 'document')
      .fail(`has ${bytes} bytes, and a document at most ${MAX_DOCUMENT_BYTES} (1 MiB)`)
  }
  return { kind: 'document', text, file: label }
}

function readLabel(place: Place, value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : place.fail(isNot(value, 'the name of a file'))
}

/** A document as an object: JSON is YAML too. */
function textOfData(place: Place, value: unknown): string | undefined {
  if (readFields(place, value, 'a document: the text of a workflow, or its content as an object') === undefined) {
    return undefined
  }
  const data = readJson(place, value)
  return data === undefined ? undefined : JSON.stringify(data)
}

function readParams(place: Place, value: unknown): Readonly<Record<string, Json>> {
  if (!isGiven(value)) return {}
  const given = readFields(place, value, 'parameters: an object such as { items: 3 }')
  return given === undefined ? {} : ((readJson(place, given) ?? {}) as Record<string, Json>)
}

function readJson(place: Place, value: unknown): Json | undefined {
  try {
    return expectJson(value, place.path)
  } catch (error) {
    return place.fail(error instanceof Error ? error.message : String(error))
  }
}

function readOverrides(
  place: Place,
  value: unknown,
  datacenters: readonly string[],
): Readonly<Record<string, Readonly<Record<string, Json>>>> {
  if (!isGiven(value)) return {}
  const given = readFields(place, value, 'an object with parameters for each datacenter')
  return Object.fromEntries(
    Object.entries(given ?? {}).map(([name, params]) => {
      const at = place.at(name)
      if (!datacenters.includes(name)) at.fail('is no datacenter of the job', didYouMean(name, datacenters))
      return [name, readParams(at, params)]
    }),
  )
}

function readNeeds(place: Place, value: unknown): readonly string[] {
  if (!isGiven(value)) return []
  if (!Array.isArray(value)) {
    place.fail(isNot(value, 'a list of names of workflows'))
    return []
  }
  return [...new Set(value.flatMap((name, index) => readName(place.item(index), name) ?? []))]
}

type Read = readonly (JobWorkflow | undefined)[]

function checkNames(place: Place, read: Read): void {
  const first = new Map<string, number>()
  for (const [index, workflow] of read.entries()) {
    if (workflow === undefined) continue
    const before = first.get(workflow.name)
    if (before === undefined) first.set(workflow.name, index)
    else place.item(index).at('name').fail(`\`${workflow.name}\` is the name of ${place.path}[${before}] too`)
  }
}

function checkNeeds(place: Place, read: Read): void {
  const known = new Set(read.flatMap((workflow) => workflow?.name ?? []))
  let isKnown = true
  for (const [index, workflow] of read.entries()) {
    for (const [position, name] of (workflow?.needs ?? []).entries()) {
      if (known.has(name)) continue
      isKnown = false
      const at = place.item(index).at('needs').item(position)
      at.fail(`no workflow of the job is called \`${name}\``, didYouMean(name, [...known]))
    }
  }
  const circle = isKnown ? circleIn(read.filter((workflow) => workflow !== undefined)) : undefined
  if (circle === undefined) return
  const index = read.findIndex((workflow) => workflow?.name === circle[0])
  place
    .item(index)
    .at('needs')
    .fail(`goes in a circle: ${[...circle, circle[0]].join(' needs ')}`)
}

/** The names of a circle, or undefined. Without recursion: a job may have very many workflows in a row. */
function circleIn(workflows: readonly JobWorkflow[]): readonly string[] | undefined {
  const left = new Map(workflows.map(({ name, needs }) => [name, new Set(needs)]))
  const dependents = new Map<string, string[]>()
  for (const { name, needs } of workflows) {
    for (const other of needs) dependents.set(other, [...(dependents.get(other) ?? []), name])
  }
  const ready = [...left].filter(([, needs]) => needs.size === 0).map(([name]) => name)
  for (let name = ready.pop(); name !== undefined; name = ready.pop()) {
    left.delete(name)
    for (const other of dependents.get(name) ?? []) {
      const needs = left.get(other)
      if (needs?.delete(name) === true && needs.size === 0) ready.push(other)
    }
  }
  // Everything that is left needs something that is left: going along ends in a circle.
  const [start] = left.keys()
  if (start === undefined) return undefined
  const path = new Set<string>()
  for (let name: string | undefined = start; name !== undefined; [name] = left.get(name) ?? []) {
    if (path.has(name)) return [...path].slice([...path].indexOf(name))
    path.add(name)
  }
  return undefined
}

function checkSize(place: Place, read: Read): void {
  const bytes = read.reduce((sum, workflow) => sum + (workflow === undefined ? 0 : bytesOf(workflow)), 0)
  if (bytes > MAX_JOB_BYTES) {
    place.fail(`documents and parameters have ${bytes} bytes, and those of a job at most ${MAX_JOB_BYTES} (8 MiB)`)
  }
}

function bytesOf({ source, params, paramsByDatacenter }: JobWorkflow): number {
  const text = source.kind === 'document' ? source.text : source.handler
  return Buffer.byteLength(text) + Buffer.byteLength(JSON.stringify([params, paramsByDatacenter]))
}
