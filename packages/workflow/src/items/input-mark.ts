/**
 * Whether an input is still what it was when its items were read. Items are read once and kept, so a change is only told.
 * Imports Node, patterns of paths, the input.
 *
 * A file is known by its size and its time; if only the time differs, by its content, unless it is large. Paths of a glob
 * are compared with each other, not what is in the files. What a command or stdin would give now cannot be known, and
 * what is written in the document is compared with the document.
 */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import path from 'node:path'
import type { MapInput } from '../plan/map-plan.js'
import { fillText } from '../values/template.js'
import { globPaths } from './glob-walk.js'
import { filledPatterns, type InputSources } from './open-entries.js'

/** Plain JSON, to be kept with the map. */
export type InputMark =
  | {
      readonly kind: 'file'
      readonly path: string
      readonly size: number
      readonly modifiedMs: number
      /** SHA-256 of its content; null if it is too large to be read for this. */
      readonly content: string | null
    }
  | {
      readonly kind: 'paths'
      readonly count: number
      /** SHA-256 of the paths. */
      readonly content: string
    }

/** A larger file takes more than a second. */
const MAX_HASHED_BYTES = 256 * 1024 ** 2

type MarkSources = Pick<InputSources, 'documentDir' | 'values'>

/** Take it before the items are read. null: there is nothing to compare with later, or the file cannot be read. */
export async function inputMark(input: MapInput, sources: MarkSources): Promise<InputMark | null> {
  if (input.kind === 'file') return fileMark(fillText(input.path, sources.values), sources.documentDir)
  if (input.kind === 'glob') return pathsMark(filledPatterns(input.patterns, sources.values), sources.documentDir)
  return null
}

/** What has changed since, in a sentence; null if nothing has, as far as can be known. */
export async function inputChange(mark: InputMark, input: MapInput, sources: MarkSources): Promise<string | null> {
  // Not the path of the mark: what is secret in it is masked there.
  if (mark.kind === 'file')
    return input.kind === 'file' ? fileChange(mark, fillText(input.path, sources.values), sources.documentDir) : null
  const now = await inputMark(input, sources)
  if (now?.kind !== 'paths' || now.content === mark.content) return null
  return now.count === mark.count
    ? `the patterns match other paths than before, again ${now.count}`
    : `the patterns matched ${mark.count} paths, and match ${now.count} now`
}

async function fileMark(file: string, directory: string): Promise<InputMark | null> {
  const full = path.resolve(directory, file)
  try {
    const { size, mtimeMs, isFile } = await factsOf(full)
    // A pipe would be read empty.
    if (!isFile) return null
    const content = size > MAX_HASHED_BYTES ? null : await hashOf(full)
    return { kind: 'file', path: file, size, modifiedMs: Math.trunc(mtimeMs), content }
  } catch {
    return null
  }
}

async function fileChange(
  mark: InputMark & { readonly kind: 'file' },
  file: string,
  directory: string,
): Promise<string | null> {
  const full = path.resolve(directory, file)
  try {
    const { size, mtimeMs } = await factsOf(full)
    if (size !== mark.size) return `${mark.path} had ${mark.size} bytes, and has ${size} now`
    if (Math.trunc(mtimeMs) === mark.modifiedMs) return null
    if (mark.content === null) return `${mark.path} has been written since`
    return (await hashOf(full)) === mark.content ? null : `${mark.path} has other contents than before`
  } catch {
    return `${mark.path} cannot be read any more`
  }
}

async function factsOf(file: string): Promise<{ size: number; mtimeMs: number; isFile: boolean }> {
  const facts = await stat(file)
  return { size: facts.size, mtimeMs: facts.mtimeMs, isFile: facts.isFile() }
}

async function hashOf(file: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const piece of createReadStream(file)) hash.update(piece as Uint8Array)
  return hash.digest('hex')
}

async function pathsMark(patterns: readonly string[], directory: string): Promise<InputMark> {
  const hash = createHash('sha256')
  let count = 0
  for await (const paths of globPaths(patterns, directory)) {
    count += paths.length
    for (const one of paths) hash.update(`${one}\0`)
  }
  return { kind: 'paths', count, content: hash.digest('hex') }
}
