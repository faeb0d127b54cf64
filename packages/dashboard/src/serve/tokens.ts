/**
 * Tokens: who may look, and who may act. Files of tokens are read at the start; a token is compared as a digest, in a time
 * that does not depend on it. Imports Node and the errors of input.
 *
 * Invariants: no message has a token in it; a file that others can read, or a line that is no token, is refused as a whole.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'
import { InputError, type Problem } from '@reprise/workflow'

/** What the bearer of a token may do. */
type TokenAccess = 'view' | 'act'

export interface Token {
  readonly access: TokenAccess
  /** Changes are recorded with it. */
  readonly name: string
  readonly secret: string
}

/** A token that was recognised. */
export type Bearer = Omit<Token, 'secret'>

/** 128 bits in base64url. */
const LEAST_LENGTH = 22
const MOST_LENGTH = 512
const MOST_BYTES = 1024 * 1024
const LINE = 'write: view|act NAME TOKEN'

/** 128 bits of randomness as text. */
export function newSecret(): string {
  return randomBytes(16).toString('base64url')
}

export class Tokens {
  private readonly known: readonly (Bearer & { readonly digest: Buffer })[]

  constructor(tokens: readonly Token[]) {
    this.known = tokens.map(({ access, name, secret }) => ({ access, name, digest: digestOf(secret) }))
  }

  /** Compares with every token, also after one was found. @example tokens.find('Bearer …') */
  find(authorization: string | null): Bearer | undefined {
    const [, secret] = /^Bearer +(\S+)$/i.exec(authorization ?? '') ?? []
    if (secret === undefined) return undefined
    const digest = digestOf(secret)
    let found: Bearer | undefined
    for (const { access, name, digest: known } of this.known)
      if (timingSafeEqual(known, digest)) found = { access, name }
    return found
  }
}

function digestOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest()
}

/** Lines `view|act NAME TOKEN`; throws an `InputError` with every problem of the file. */
export function readTokens(file: string): Tokens {
  const text = readOwnFile(file)
  const problems: Problem[] = []
  const tokens: Token[] = []
  const lineOf = new Map<string, number>()
  for (const [index, content] of text.split(/\r?\n/).entries()) {
    const line = index + 1
    const fault = (message: string, suggestion?: string): void =>
      void problems.push({ file, line, message, ...(suggestion !== undefined && { suggestion }) })
    if (/^\s*(#|$)/.test(content)) continue
    const [access = '', name = '', secret = '', ...more] = content.trim().split(/\s+/)
    if (secret === '' || more.length > 0) fault('is not a token', LINE)
    else if (access !== 'view' && access !== 'act') fault('begins with neither `view` nor `act`', LINE)
    else if (!/^[A-Za-z0-9][A-Za-z0-9._@-]{0,99}$/.test(name))
      fault('has a name of other characters than letters, digits, `.`, `_`, `@` and `-`, or of more than 100')
    else if (secret.length < LEAST_LENGTH || secret.length > MOST_LENGTH)
      fault(
        `has a token of ${secret.length} characters, and one has ${LEAST_LENGTH} to ${MOST_LENGTH}`,
        'make one: openssl rand -base64 24',
      )
    else if (lineOf.has(secret)) fault(`has the same token as line ${lineOf.get(secret)}`)
    else {
      lineOf.set(secret, line)
      tokens.push({ access, name, secret })
    }
  }
  if (problems.length === 0 && tokens.length === 0)
    problems.push({ file, message: 'has no token', suggestion: 'write lines: view|act NAME TOKEN' })
  if (problems.length > 0) throw new InputError(problems)
  return new Tokens(tokens)
}

/** What others can read is no secret, and what others can write gives them every right. */
function readOwnFile(file: string): string {
  const refuse = (message: string, suggestion?: string): InputError =>
    new InputError([{ file, message, ...(suggestion !== undefined && { suggestion }) }])
  let descriptor: number
  try {
    // A pipe without a writer would keep the start waiting.
    descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') throw refuse('does not exist', `make it with mode 600, and ${LINE}`)
    throw refuse(`cannot be read: ${code ?? String(error)}`)
  }
  try {
    const facts = fstatSync(descriptor)
    const { mode, uid, size } = facts
    if (!facts.isFile()) throw refuse('is not a file')
    if (size > MOST_BYTES) throw refuse(`has ${size} bytes, and at most ${MOST_BYTES}`)
    const own = process.getuid?.()
    if (own !== undefined && uid !== own && uid !== 0) throw refuse('belongs to another user', `chown it to ${own}`)
    if (own !== undefined && (mode & 0o077) !== 0)
      throw refuse(`can be read or written by others (mode ${(mode & 0o777).toString(8)})`, `chmod 600 ${file}`)
    return readFileSync(descriptor, 'utf8')
  } finally {
    closeSync(descriptor)
  }
}
