/**
 * SQLite's primary result codes that are told apart, and the code of an error whichever driver reports it. Imports
 * nothing.
 */
export const RESULT_CODES = {
  BUSY: 5,
  LOCKED: 6,
  READONLY: 8,
  IOERR: 10,
  CORRUPT: 11,
  FULL: 13,
  CANTOPEN: 14,
  CONSTRAINT: 19,
  NOTADB: 26,
} as const

/** What `sqlite3_errmsg` says when a statement has no text of its own; `sqlite3.c` has the texts as constants. */
const TEXTS: Readonly<Record<keyof typeof RESULT_CODES, RegExp>> = {
  BUSY: /^database is locked/,
  LOCKED: /^database table is locked/,
  READONLY: /^attempt to write a readonly database/,
  IOERR: /^disk I\/O error/,
  CORRUPT: /^database disk image is malformed|^malformed database schema/,
  FULL: /^database or disk is full/,
  CANTOPEN: /^unable to open database file/,
  CONSTRAINT: /constraint failed/,
  NOTADB: /^file is not a database/,
}
const NAMES = Object.keys(RESULT_CODES) as (keyof typeof RESULT_CODES)[]

/** SQLite's own primary result code; undefined for an error that is not SQLite's. */
export function resultCode(error: unknown): number | undefined {
  const { errcode, code, message } = (error ?? {}) as { errcode?: unknown; code?: unknown; message?: unknown }
  if (typeof errcode === 'number') return errcode & 0xff
  // `all` of `@photostructure/sqlite` 1.2 has only SQLite's text.
  if (code === 'ERR_SQLITE_ERROR') return codeOfText(String(message))
  if (typeof code !== 'string' || !code.startsWith('SQLITE_')) return undefined
  const primary = code.slice('SQLITE_'.length).split('_')[0]
  const name = NAMES.find((one) => one === primary)
  return name && RESULT_CODES[name]
}

/** Of the driver itself, about an integer that it cannot hand over. */
const NOT_OF_SQLITE = /^Value is too large to be represented/

/** Any other text is an error of the statement: 1, as SQLite calls it. */
function codeOfText(text: string): number | undefined {
  if (NOT_OF_SQLITE.test(text)) return undefined
  const name = NAMES.find((one) => TEXTS[one].test(text))
  return name === undefined ? 1 : RESULT_CODES[name]
}
