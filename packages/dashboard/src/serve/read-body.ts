/**
 * The body of a change as JSON: bounded in bytes and in depth, and read by so many requests at a time that their bodies fit
 * into memory together. Imports problems.
 */
import { badRequest, type Problem, ProblemError } from './problem.js'

/** Beyond this nothing that we read nests; recursion over it would end in a full stack. */
const MAX_DEPTH = 200

/** Bytes that bodies may take at once; requests beyond them are told to come again. */
export class BodyMemory {
  private free: number

  constructor(bytes: number) {
    this.free = bytes
  }

  async hold<T>(bytes: number, read: () => Promise<T>): Promise<T> {
    if (bytes > this.free)
      throw new ProblemError({
        status: 503,
        kind: 'busy',
        title: 'Too many large requests at a time',
        headers: { 'retry-after': '1' },
      })
    this.free -= bytes
    try {
      return await read()
    } finally {
      this.free += bytes
    }
  }
}

/** An empty body is an empty object. */
export async function readJsonBody(request: Request, limit: number, memory: BodyMemory): Promise<unknown> {
  const announced = Number(request.headers.get('content-length') ?? limit)
  if (announced > limit) throw new ProblemError(tooLarge(limit))
  const text = await memory.hold(announced, () => readText(request, limit))
  if (text === '') return {}
  expectShallow(text)
  try {
    return JSON.parse(text) as unknown
  } catch {
    throw badRequest([{ path: 'body', message: 'is not JSON' }])
  }
}

function tooLarge(limit: number): Problem {
  // The rest of the body is not read, so the connection cannot be used again.
  const headers = { connection: 'close' }
  return { status: 413, kind: 'too_large', title: `The body has more than ${limit} bytes`, headers }
}

async function readText({ body }: Request, limit: number): Promise<string> {
  if (body === null) return ''
  const chunks = await chunksOf(body, limit)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks))
  } catch {
    throw badRequest([{ path: 'body', message: 'is not text in UTF-8' }])
  }
}

async function chunksOf(body: AsyncIterable<Uint8Array>, limit: number): Promise<readonly Uint8Array[]> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  try {
    // Leaving the loop cancels the stream.
    for await (const chunk of body) {
      bytes += chunk.byteLength
      if (bytes > limit) throw new ProblemError(tooLarge(limit))
      chunks.push(chunk)
    }
    return chunks
  } catch (error) {
    if (error instanceof ProblemError) throw error
    // The client has gone, or was too slow: nobody reads the answer.
    throw badRequest([{ path: 'body', message: 'was not sent to its end' }])
  }
}

function expectShallow(text: string): void {
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const mark = text[at]
    if (mark === '"') at = endOfText(text, at)
    else if (mark === '[' || mark === '{') depth++
    else if (mark === ']' || mark === '}') depth--
    if (depth > MAX_DEPTH) throw badRequest([{ path: 'body', message: `is nested deeper than ${MAX_DEPTH} levels` }])
  }
}

/** Where the quotation that begins at `from` ends; documents in it are long. */
function endOfText(text: string, from: number): number {
  for (let end = text.indexOf('"', from + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let before = end
    while (text[before - 1] === '\\') before--
    if ((end - before) % 2 === 0) return end
  }
  return text.length
}
