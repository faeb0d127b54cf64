/** JSON that a flag gives as text or as `@file`. Imports Node's files and the errors of a wrong use. */
import { readFileSync } from 'node:fs'
import type { Json } from 'reprise/durable'
import { UsageError } from '../failures.js'

/** `flag` is named in the errors: `--input`. */
export function jsonFlag(flag: string, text: string): Json {
  return parseJson(flag, text.startsWith('@') ? textOf(flag, text.slice(1)) : text)
}

function textOf(flag: string, file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new UsageError(`${flag} @${file} cannot be read: ${(error as Error).message}`)
  }
}

/** `from` says where the text comes from. */
export function parseJson(from: string, text: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch (error) {
    throw new UsageError(
      `${from} is not valid JSON: ${(error as Error).message}`,
      'a text needs quotes of its own: \'"orders/17"\'',
    )
  }
}
