/**
 * A file that is shorter than its own header says, as after a copy that ended early. SQLite refuses to open it, so it is read
 * as a copy whose header leaves the length to the file. Imports Node.
 */
import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  openSync,
  readSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

/** Places in the header of a SQLite file: https://sqlite.org/fileformat2.html#the_database_header */
const PAGE_SIZE = 16
const PAGE_COUNT = 28
const VALID_FOR = 92
const HEADER = 100

/** Calls `read` with the file, or with a copy that can be opened; the copy is removed afterwards. */
export async function withOpenableFile<T>(file: string, read: (openable: string) => Promise<T>): Promise<T> {
  if (!isCutOff(file)) return read(file)
  const directory = mkdtempSync(path.join(tmpdir(), 'reprise-salvage-'))
  try {
    const copy = path.join(directory, 'copy.db')
    copyFileSync(file, copy)
    if (existsSync(`${file}-wal`)) copyFileSync(`${file}-wal`, `${copy}-wal`)
    forgetLength(copy)
    return await read(copy)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

function isCutOff(file: string): boolean {
  const header = Buffer.alloc(HEADER)
  const handle = openSync(file, 'r')
  try {
    if (readSync(handle, header, 0, HEADER, 0) < HEADER) return false
  } finally {
    closeSync(handle)
  }
  if (!header.toString('latin1').startsWith('SQLite format 3\0')) return false
  // The page size 65 536 does not fit into two bytes, and is written as 1.
  const pageSize = header.readUInt16BE(PAGE_SIZE)
  return statSync(file).size < header.readUInt32BE(PAGE_COUNT) * (pageSize === 1 ? 65_536 : pageSize)
}

/** SQLite believes the count of pages only if it was written with the last change of the file. */
function forgetLength(file: string): void {
  const handle = openSync(file, 'r+')
  try {
    writeSync(handle, Buffer.alloc(4), 0, 4, VALID_FOR)
  } finally {
    closeSync(handle)
  }
}
