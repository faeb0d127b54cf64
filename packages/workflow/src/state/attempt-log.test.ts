import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { AttemptLog, type LogFiles, SYSTEM_FILES } from './attempt-log.js'
import { StateError } from './state-error.js'

/** A file in memory that takes so many bytes at a time, and so many in all. */
class Disk implements LogFiles {
  text = ''
  opened = 0
  closed = 0
  calls = 0
  readonly atOnce: number
  readonly room: number

  constructor(atOnce = Infinity, room = Infinity) {
    this.atOnce = atOnce
    this.room = room
  }

  open(): number {
    this.opened++
    return 7
  }

  writev(_fd: number, pieces: readonly Uint8Array[]): Promise<number> {
    this.calls++
    const bytes = Buffer.concat(pieces)
    const taken = Math.min(bytes.length, this.atOnce, this.room - this.text.length)
    if (taken === 0) return Promise.reject(Object.assign(new Error('no space'), { code: 'ENOSPC' }))
    this.text += bytes.toString('latin1', 0, taken)
    return Promise.resolve(taken)
  }

  close(): void {
    this.closed++
  }
}

const bytes = (text: string): Buffer => Buffer.from(text, 'latin1')

describe('a log', () => {
  test('has all that was written, in order, however little the disk takes at once', async () => {
    const parts = fc.array(fc.tuple(fc.constantFrom('stdout', 'stderr'), fc.string({ unit: 'binary-ascii' })))
    await fc.assert(
      fc.asyncProperty(parts, fc.integer({ min: 1, max: 9 }), async (written, atOnce) => {
        const disk = new Disk(atOnce)
        const log = new AttemptLog('x.log', disk)
        for (const [stream, text] of written) await log.write(stream, bytes(text))
        await log.close()
        expect(disk.text).toBe(written.map(([, text]) => text).join(''))
        expect([disk.opened, disk.closed]).toEqual(disk.text === '' ? [0, 0] : [1, 1])
      }),
    )
  })

  test('is not made for silence', async () => {
    const disk = new Disk()
    const log = new AttemptLog('x.log', disk)
    await log.write('stdout', bytes(''))
    await log.close()
    expect(disk.opened).toBe(0)
  })

  test('is written in batches, not byte by byte', async () => {
    const disk = new Disk()
    const log = new AttemptLog('x.log', disk)
    for (let index = 0; index < 1000; index++) void log.write('stdout', bytes('x'))
    await log.close()
    expect([disk.text.length, disk.calls]).toEqual([1000, 2])
  })

  test('asks to wait when much is in memory, and not before', async () => {
    const disk = new Disk()
    const log = new AttemptLog('x.log', disk)
    expect(log.write('stdout', Buffer.alloc(256 * 1024))).toBeUndefined()
    const answer = log.write('stderr', bytes('x'))
    expect(answer).toBeInstanceOf(Promise)
    await answer
    expect(disk.text.length).toBe(256 * 1024 + 1)
    await log.close()
  })

  test('is closed once and for all', async () => {
    const log = new AttemptLog('x.log', new Disk())
    await log.write('stdout', bytes('x'))
    await log.close()
    await log.close()
    expect(() => log.write('stdout', bytes('x'))).toThrow('The log x.log is closed')
  })
})

describe('a full disk', () => {
  const full = 'x.log cannot be written, the disk is full: make room, then resume the run'

  test('is told to who waits, once, with the path; then all is silent', async () => {
    const disk = new Disk(Infinity, 1000)
    const log = new AttemptLog('x.log', disk)
    await expect(log.write('stdout', Buffer.alloc(300_000, 'x'))).rejects.toThrow(full)
    await log.write('stdout', bytes('y'))
    await log.close()
    expect([disk.text, disk.closed]).toEqual(['x'.repeat(1000), 1])
  })

  test('is told to the next who writes', async () => {
    const disk = new Disk(Infinity, 0)
    const log = new AttemptLog('x.log', disk)
    expect(log.write('stdout', bytes('x'))).toBeUndefined()
    await vi.waitFor(() => expect(disk.calls).toBe(1))
    expect(() => log.write('stdout', bytes('y'))).toThrow(StateError)
    await log.close()
  })

  test('is told at the end if nobody has asked before', async () => {
    const log = new AttemptLog('x.log', new Disk(Infinity, 0))
    void log.write('stdout', bytes('x'))
    await expect(log.close()).rejects.toThrow(full)
  })

  test('may show at the opening and at the closing', async () => {
    const refuse = (code: string) => (): never => {
      throw Object.assign(new Error(code), { code })
    }
    const unopened = new AttemptLog('x.log', { ...SYSTEM_FILES, open: refuse('EROFS') })
    void unopened.write('stdout', bytes('x'))
    await expect(unopened.close()).rejects.toThrow('read-only')
    const disk = new Disk()
    const unclosed = new AttemptLog('x.log', {
      open: () => disk.open(),
      writev: (fd, pieces) => disk.writev(fd, pieces),
      close: refuse('EIO'),
    })
    void unclosed.write('stdout', bytes('x'))
    await expect(unclosed.close()).rejects.toThrow('the disk fails')
  })
})
