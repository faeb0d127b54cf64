/**
 * What an item is called: a key for people, and an id for the ledger and for files. Imports the library's fingerprint.
 *
 * The key is the field `id`, `item_id` or `_id` of an object; a text, a number, true, false and null are their own key, and
 * so is a list of these, as JSON. Everything else, and what is longer than 200 characters or holds control characters, has
 * a hash of its content, whatever the order of its keys. Invariant: ids differ by their position, also where keys do not.
 */
import { fingerprint } from 'reprise/internal'
import type { Json } from 'reprise/durable'
import { isList } from '../values/reference.js'

const KEY_FIELDS = ['id', 'item_id', '_id']
const MAX_KEY = 200
/** Of the key within an id: it becomes a part of file names. */
const MAX_NAME = 60
const POSITION_DIGITS = 7
const UNREADABLE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u
const HASH_CHARACTERS = 20

export function itemKey(value: Json): string {
  return readableKey(value) ?? fingerprint(value).slice(0, HASH_CHARACTERS)
}

function readableKey(value: Json): string | undefined {
  if (typeof value !== 'object' || value === null) return readable(String(value))
  if (isList(value)) {
    const isPlain = value.length > 0 && value.every((element) => typeof element !== 'object' || element === null)
    return isPlain ? readable(JSON.stringify(value)) : undefined
  }
  for (const field of KEY_FIELDS) {
    const id = Object.hasOwn(value, field) ? (value as Readonly<Record<string, Json>>)[field] : undefined
    const key = typeof id === 'string' || typeof id === 'number' ? readable(String(id)) : undefined
    if (key !== undefined) return key
  }
  return undefined
}

function readable(text: string): string | undefined {
  return text.length > 0 && text.length <= MAX_KEY && !UNREADABLE.test(text) ? text : undefined
}

/** `0000017.orders-17`: the position, and the key in letters, digits, dots, underscores and dashes. */
export function itemId(index: number, key: string): string {
  const name = key
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^A-Za-z0-9._-]+/g, '-')
    .replaceAll(/\.{2,}/g, '.')
    .slice(0, MAX_NAME)
    .replaceAll(/^[-.]+|[-.]+$/g, '')
  return `${String(index).padStart(POSITION_DIGITS, '0')}.${name === '' ? 'item' : name}`
}
