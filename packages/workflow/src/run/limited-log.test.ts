import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { AttemptLog, type LogFiles } from '../state/attempt-log.js'
import { LimitedLog, LogAllowance } from './limited-log.js'

const MIB = 1024 * 1024

/** A file in memory. */
class Disk implements LogFiles {
  readonly pieces: Buffer[] = []

  get text(): string {
    return Buffer.concat(this.pieces).toString('latin1')
  }

  open(): number {
    return 7
  }

  writev(_fd: number, pieces: readonly Uint8Array[]): Promise<number> {
    const bytes = Buffer.concat(pieces)
    this.pieces.push(bytes)
    return Promise.resolve(bytes.length)
  }

  close(): void {
    // Nothing to close.
  }
}

const plenty = (): LogAllowance => new LogAllowance(1024 * MIB, () => 0)

async function logged(mostBytes: number, writes: readonly string[], allowance = plenty()): Promise<string> {
  const disk = new Disk()
  const log = new LimitedLog(new AttemptLog('x.log', disk), mostBytes, allowance)
  for (const text of writes) await log.write('stdout', Buffer.from(text, 'latin1'))
  await log.close()
  return disk.text
}

describe('a log with a limit', () => {
  test('has all that was written, if that is less', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.string({ unit: 'binary-ascii', maxLength: 20 }), { maxLength: 9 }),
        async (writes) => {
          expect(await logged(400, writes)).toBe(writes.join(''))
        },
      ),
    )
  })

  test('keeps the beginning and the end of more, and says between them how much is missing and why', async () => {
    const text = Array.from({ length: 3000 }, (_, index) => `line ${index}\n`).join('')
    for (const writes of [[text], text.match(/.{1,97}/gs) ?? []]) {
      const kept = await logged(4096, writes)
      const [head = '', cut = '', tail = ''] = kept.split(/(?<=\n)(?=\[reprise: )|(?<=ends\]\n|4KiB\]\n)/)
      expect(text.startsWith(head.trimEnd())).toBe(true)
      expect(cut).toBe('[reprise: cut here, `max_log` is 4KiB; the end follows when the attempt ends]\n')
      expect(tail).toMatch(/^\[reprise: \d+(\.\d)?KiB are left out here, `max_log` is 4KiB\]\n/)
      expect(text.endsWith(kept.slice(-2048))).toBe(true)
      expect(kept.length).toBeLessThan(4096 + 200)
    }
  })

  test('never holds more than its limit and two lines, however it is written, and nothing twice', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat(300), { maxLength: 30 }),
        fc.integer({ min: 2, max: 500 }),
        async (sizes, most) => {
          let next = 0
          const writes = sizes.map((size) =>
            String.fromCharCode(...Array.from({ length: size }, () => 1 + (next++ % 100))),
          )
          const kept = (await logged(most, writes)).replaceAll(/\n?\[reprise: [^\]]*\]\n/g, '')
          const all = writes.join('')
          expect(kept.length).toBe(Math.min(all.length, most))
          const head = most - Math.floor(most / 2)
          expect(kept.slice(0, head)).toBe(all.slice(0, head))
          expect(kept.slice(head)).toBe(all.slice(head).slice(-Math.floor(most / 2)))
        },
      ),
    )
  })

  test('of 1 GB takes the memory of its end, and keeps 64 MiB', async () => {
    const chunk = Buffer.alloc(MIB, 'x')
    let bytes = 0
    const files: LogFiles = {
      open: () => 7,
      writev: (_, pieces) => {
        const written = pieces.reduce((sum, piece) => sum + piece.length, 0)
        bytes += written
        return Promise.resolve(written)
      },
      close: () => undefined,
    }
    const log = new LimitedLog(new AttemptLog('x.log', files), 64 * MIB, plenty())
    for (let count = 0; count < 1024; count++) await log.write('stdout', chunk)
    await log.close()
    expect(bytes).toBeGreaterThan(64 * MIB - 10)
    expect(bytes).toBeLessThan(64 * MIB + 300)
  })
})

describe('what a run may log', () => {
  test('is shared by its attempts, and each of them may always log a little', async () => {
    const allowance = new LogAllowance(MIB, () => 0)
    const first = await logged(64 * MIB, ['a'.repeat(MIB - 10)], allowance)
    expect(first.length).toBe(MIB - 10)
    const second = await logged(64 * MIB, ['b'.repeat(MIB)], allowance)
    expect(second).toContain('`max_run_log` is 1MiB')
    expect(second.match(/b/g)?.length).toBeLessThan(200 * 1024)
    expect(second.startsWith('b'.repeat(60_000))).toBe(true)
    expect(second.endsWith('b'.repeat(30_000))).toBe(true)
  })

  test('counts what processes before have logged, and looks it up once', async () => {
    let lookups = 0
    const allowance = new LogAllowance(MIB, () => {
      lookups++
      return MIB
    })
    await logged(64 * MIB, ['a'], allowance)
    expect(lookups).toBe(0)
    const kept = await logged(
      64 * MIB,
      Array.from({ length: 20 }, () => 'b'.repeat(50_000)),
      allowance,
    )
    expect(kept).toContain('`max_run_log` is 1MiB')
    expect(lookups).toBe(1)
  })
})
