/** Items of an input, for tests: a directory with files, texts for stdin and for the output of a command. */
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Json } from 'reprise/durable'
import { type Item, readItems } from '../../packages/workflow/src/items/read-items.js'
import type { InputSources } from '../../packages/workflow/src/items/open-entries.js'
import type { InputFormat, ItemSelection, MapInput } from '../../packages/workflow/src/plan/map-plan.js'

type Pieces = Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>

export const ALL: ItemSelection = {
  jsonPath: null,
  filter: null,
  distinct: null,
  sortBy: [],
  offset: 0,
  maxItems: null,
}

export function directoryOf(files: Readonly<Record<string, string | Uint8Array>>): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'reprise-items-'))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(directory, name)), { recursive: true })
    writeFileSync(path.join(directory, name), text)
  }
  return directory
}

export function sourcesOf(given: Partial<InputSources> = {}): InputSources {
  const nothing = (): never => {
    throw new Error('the test has no such input')
  }
  return { documentDir: '/nowhere', values: {}, openCommand: nothing, openStdin: nothing, ...given }
}

export async function itemsOf(
  input: MapInput,
  selection: Partial<ItemSelection> = {},
  sources: Partial<InputSources> = {},
): Promise<Item[]> {
  const items: Item[] = []
  for await (const item of readItems({ input, selection: { ...ALL, ...selection } }, sourcesOf(sources)))
    items.push(item)
  return items
}

export async function valuesOf(...given: Parameters<typeof itemsOf>): Promise<Json[]> {
  return (await itemsOf(...given)).map(({ value }) => value)
}

/** Items of a text that comes in pieces. */
export function valuesOfText(
  format: InputFormat | null,
  text: string | Pieces,
  selection: Partial<ItemSelection> = {},
): Promise<Json[]> {
  const pieces = typeof text === 'string' ? [text] : text
  return valuesOf({ kind: 'stdin', format }, selection, { openStdin: () => piecesOf(pieces) })
}

export async function* piecesOf(pieces: Pieces): AsyncGenerator<string | Uint8Array> {
  for await (const piece of pieces) yield piece
}
