import { readdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { PassThrough, Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { createReadStream } from 'node:fs'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type AttemptInput, StdinError, StdinSpool } from './stdin-spool.js'

let directory = ''
const opened: StdinSpool[] = []

beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'reprise-spool-'))
})

afterEach(async () => {
  for (const spool of opened.splice(0)) await spool.close()
  expect(readdirSync(directory)).toEqual([])
  await rm(directory, { recursive: true })
})

function spoolOf(source: AsyncIterable<string | Uint8Array>, maxBytes?: number): StdinSpool {
  const spool = new StdinSpool(source, { directory, ...(maxBytes !== undefined && { maxBytes }) })
  opened.push(spool)
  return spool
}

/** What an attempt reads that reads everything. */
async function readAll({ input, close }: AttemptInput): Promise<string> {
  if (typeof input === 'string') return input
  if ('descriptor' in input) {
    try {
      return await text(createReadStream('', { fd: input.descriptor, autoClose: false }))
    } finally {
      close()
    }
  }
  const into = new PassThrough()
  const [said] = await Promise.all([text(into), input.feed(into)])
  return said
}

async function* pieces(...all: string[]): AsyncGenerator<string> {
  for (const piece of all) yield piece
}

test('every attempt reads the input from its beginning', async () => {
  const spool = spoolOf(pieces('one ', 'two ', 'three'))
  for (let attempt = 1; attempt <= 3; attempt++) expect(await readAll(await spool.open())).toBe('one two three')
})

test('an attempt begins before the input has ended, and gets each piece as it comes', async () => {
  const source = new PassThrough()
  const spool = spoolOf(source)
  const { input } = await spool.open()
  const into = new PassThrough()
  const fed = (input as { feed(into: Writable): Promise<void> }).feed(into)
  const heard = into[Symbol.asyncIterator]()
  source.write('first')
  expect(String((await heard.next()).value)).toBe('first')
  source.end('last')
  expect(String((await heard.next()).value)).toBe('last')
  await fed
  expect(await readAll(await spool.open())).toBe('firstlast')
})

test('nothing is read that no attempt has asked for', async () => {
  let produced = 0
  const endless = async function* (): AsyncGenerator<string> {
    for (;;) {
      produced++
      yield 'x'.repeat(64 * 1024)
    }
  }
  const { input } = await spoolOf(endless()).open()
  // It takes one piece and is never ready for another; then its program has ended.
  const into = new Writable({ highWaterMark: 1, write: () => undefined })
  const fed = (input as { feed(into: Writable): Promise<void> }).feed(into)
  while (into.writableLength === 0) await new Promise((resolve) => setImmediate(resolve))
  into.destroy()
  await fed
  expect(produced).toBe(1)
})

test('a second attempt that reads further than the first gets what comes then', async () => {
  const spool = spoolOf(pieces('a', 'b', 'c'))
  const { input } = await spool.open()
  const into = new Writable({ highWaterMark: 1, write: () => into.destroy() })
  await (input as { feed(into: Writable): Promise<void> }).feed(into)
  expect(await readAll(await spool.open())).toBe('abc')
})

test('a short input that is there is handed over as a file of its own', async () => {
  const spool = spoolOf(pieces('short'))
  await spool.awaitShort(5000)
  const { input, close } = await spool.open()
  if (process.platform === 'linux') expect(input).toHaveProperty('descriptor')
  close()
})

test('an input that does not come is not waited for', async () => {
  const spool = spoolOf(new PassThrough())
  await spool.awaitShort(5)
  expect((await spool.open()).input).toHaveProperty('feed')
})

test('more than is kept fails the attempt, and no end of the input is told', async () => {
  const spool = spoolOf(pieces('12345', '67890'), 8)
  const { input } = await spool.open()
  const into = new PassThrough()
  const fed = (input as { feed(into: Writable): Promise<void> }).feed(into)
  await expect(fed).rejects.toThrow('stdin is larger than 8 bytes')
  await expect(fed).rejects.toMatchObject({ retryable: false, suggestion: expect.stringContaining('--attempts 1') })
  expect(into.writableEnded).toBe(false)
  await expect(readAll(await spool.open())).rejects.toThrow(StdinError)
})

test('an input that cannot be read fails the attempt', async () => {
  const broken = async function* (): AsyncGenerator<string> {
    yield 'half'
    throw new Error('read EIO')
  }
  await expect(readAll(await spoolOf(broken()).open())).rejects.toThrow('stdin cannot be read: read EIO')
})

test('a place where nothing can be kept is named, with what else there is', async () => {
  const spool = new StdinSpool(pieces('x'), { directory: path.join(directory, 'gone') })
  await expect(readAll(await spool.open())).rejects.toMatchObject({
    message: `stdin cannot be kept in ${directory}/gone for a second attempt: there is no such directory`,
    suggestion: expect.stringContaining('TMPDIR'),
  })
})
