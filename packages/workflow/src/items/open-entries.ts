/**
 * From an input to its entries: opens what is to be read, and picks the reader. Imports Node's files, templates, paths,
 * the readers.
 */
import { createReadStream } from 'node:fs'
import path from 'node:path'
import type { Json } from 'reprise/durable'
import { reasonOf } from '../document/read-text.js'
import { STDIN } from '../document/problem.js'
import { formatOfName, type InputFormat, type MapInput, type MapPlan } from '../plan/map-plan.js'
import type { RunAction, ShellAction } from '../plan/plan.js'
import type { Values } from '../steps/step-context.js'
import { compileJsonPath, type JsonPath } from '../values/json-path.js'
import { plainPathOf } from '../values/plain-path.js'
import { fillJson, fillText, parseTemplate, textOf } from '../values/template.js'
import { lookUp, type Reference } from '../values/reference.js'
import { type ByteSource, decodedText } from './decode-text.js'
import type { Entry, EntryReader, EntryStream } from './entry.js'
import { productEntries, rangeEntries } from './enumerate-entries.js'
import { escapedGlob } from './glob-pattern.js'
import { globPaths } from './glob-walk.js'
import { InputDataError } from './input-data-error.js'
import { csvReader, tsvReader } from './read-csv.js'
import { elementsOf, jsonStreamReader, readWholeJson } from './read-json.js'
import { guessedLineReader, lineReader, ndjsonReader } from './read-lines.js'

/** What an input may be read from; processes and stdin belong to whoever runs the map. */
export interface InputSources {
  /** Where paths and patterns begin. */
  readonly documentDir: string
  /** For templates and references. */
  readonly values: Values
  /** Its standard output. If the command fails, the source throws at its end; leaving it early stops the command. */
  readonly openCommand: (action: ShellAction | RunAction) => Promise<ByteSource>
  readonly openStdin: () => ByteSource
}

/** What is read, and what errors call it. */
interface OpenInput {
  readonly source: string
  readonly entries: EntryStream
}

const PIECE_BYTES = 128 * 1024

type Selected = { readonly input: MapInput; readonly selection: Pick<MapPlan['selection'], 'jsonPath'> }

export async function openEntries({ input, selection }: Selected, sources: InputSources): Promise<OpenInput> {
  const { jsonPath } = selection
  const { values } = sources
  switch (input.kind) {
    case 'file': {
      const file = fillText(input.path, values)
      const format = input.format ?? formatOfName(path.basename(file)) ?? null
      return ofText(file, fileSource(path.resolve(sources.documentDir, file), file), format, jsonPath)
    }
    case 'command':
      return ofText('output of the command', commandSource(input.action, sources), input.format, jsonPath)
    case 'stdin':
      return ofText(STDIN, stdinSource(sources), input.format, jsonPath)
    case 'glob':
      return ofEnumerated('glob', globEntries(filledPatterns(input.patterns, values), sources.documentDir), jsonPath)
    case 'range':
      return ofEnumerated('range', inOneGroup(rangeEntries(input.from, input.to, input.step)), jsonPath)
    case 'product': {
      const lists = fillJson(input.lists, values) as readonly (readonly Json[])[]
      return ofEnumerated('product', inOneGroup(productEntries(lists)), jsonPath)
    }
    case 'list':
      return ofValue('list', fillJson(input.items, values), jsonPath)
    case 'value':
      return ofValue(input.reference, fillJson(input.reference, values), jsonPath)
  }
}

/** Values that are filled in match themselves, whatever characters they hold. */
export function filledPatterns(patterns: readonly string[], values: Values): readonly string[] {
  const filled = (part: string | Reference): string =>
    typeof part === 'string' ? part : escapedGlob(textOf(lookUp(values, part)))
  return patterns.map((pattern) => parseTemplate(pattern).parts.map(filled).join(''))
}

async function ofText(
  source: string,
  bytes: ByteSource,
  format: InputFormat | null,
  jsonPath: string | null,
): Promise<OpenInput> {
  const pieces = decodedText(bytes, source)
  const kind = format ?? (jsonPath === null ? null : 'json')
  const names = jsonPath === null ? null : plainPathOf(jsonPath)
  const query = jsonPath === null || (kind === 'json' && names !== null) ? null : compileJsonPath(jsonPath)
  if (kind === 'json' && query !== null) return { source, entries: wholeEntries(pieces, query, source) }
  if (kind !== 'json' && kind !== 'ndjson' && query !== null) throw noDocument(source, kind ?? 'lines')
  const entries = readEntries(pieces, readerFor(kind, source, names))
  return { source, entries: query === null ? entries : pathInEach(entries, query) }
}

function readerFor(format: InputFormat | null, name: string, names: readonly string[] | null): EntryReader {
  switch (format) {
    case 'json':
      return jsonStreamReader(name, names)
    case 'ndjson':
      return ndjsonReader(name)
    case 'csv':
      return csvReader(name)
    case 'tsv':
      return tsvReader(name)
    case 'lines':
      return lineReader(name)
    case null:
      return guessedLineReader(name)
  }
}

async function* readEntries(
  pieces: AsyncIterable<string>,
  reader: EntryReader,
): EntryStream & AsyncGenerator<Iterable<Entry>> {
  for await (const piece of pieces) yield reader.feed(piece)
  yield reader.end()
}

async function* wholeEntries(
  pieces: AsyncIterable<string>,
  query: JsonPath,
  source: string,
): AsyncGenerator<Iterable<Entry>> {
  yield elementsOf(query.select(await readWholeJson(pieces, source)), source)
}

/** Each row of NDJSON is a document of its own. */
async function* pathInEach(entries: EntryStream, query: JsonPath): AsyncGenerator<Iterable<Entry>> {
  let position = 0
  for await (const group of entries) {
    yield (function* () {
      for (const { value, line } of group) {
        for (const found of query.select(value)) yield { value: found, position: position++, line }
      }
    })()
  }
}

async function* globEntries(patterns: readonly string[], directory: string): AsyncGenerator<Iterable<Entry>> {
  let position = 0
  for await (const paths of globPaths(patterns, directory)) {
    yield paths.map((value) => ({ value, position: position++, line: null }))
  }
}

async function ofValue(source: string, value: Json, jsonPath: string | null): Promise<OpenInput> {
  const document = jsonPath === null ? value : compileJsonPath(jsonPath).select(value)
  return { source, entries: inOneGroup(elementsOf(document, source)) }
}

function ofEnumerated(source: string, entries: EntryStream, jsonPath: string | null): OpenInput {
  if (jsonPath !== null) throw noDocument(source, source)
  return { source, entries }
}

async function* inOneGroup(entries: Iterable<Entry>): AsyncGenerator<Iterable<Entry>> {
  yield entries
}

/** A command is started when its output is first asked for, and not if nothing is. */
async function* commandSource(
  action: ShellAction | RunAction,
  { openCommand }: InputSources,
): AsyncGenerator<Uint8Array | string> {
  yield* await openCommand(action)
}

async function* stdinSource({ openStdin }: InputSources): AsyncGenerator<Uint8Array | string> {
  yield* openStdin()
}

async function* fileSource(file: string, shown: string): AsyncGenerator<Uint8Array> {
  try {
    for await (const piece of createReadStream(file, { highWaterMark: PIECE_BYTES })) yield piece as Uint8Array
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error
    const isDirectory = (error as NodeJS.ErrnoException).code === 'EISDIR'
    const cure = isDirectory ? `its files are \`input: {glob: "${shown}/*"}\`` : `looked for ${file}`
    throw new InputDataError(shown, reasonOf(error), cure, { cause: error })
  }
}

function noDocument(source: string, what: string): InputDataError {
  const cure = 'leave it out, or select with `filter`'
  return new InputDataError(source, `\`json_path\` looks into JSON and NDJSON, and the input is ${what}`, cure)
}
