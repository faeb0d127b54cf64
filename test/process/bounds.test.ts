/** That commands cost no more than they should: memory, open files, processes. */
import { describe, expect } from 'vitest'
import type { Figures } from './many-commands.js'
import { hasProc, itWhere, startProgram } from './rig.js'

/** More by hand: 5000000000. */
const BYTES = Number(process.env['FLOOD_BYTES'] ?? 300_000_000)

itWhere(hasProc, '/proc', `${BYTES / 1e6} MB of output do not fit into memory, and need not`, async () => {
  const program = startProgram('flood.ts', String(BYTES))
  expect(await program.ended).toBe(0)
  const { heard, end, beforeKib, afterKib } = JSON.parse(program.said()) as Record<string, number>
  expect([heard, end]).toEqual([BYTES, '0 1000 65536'])
  process.stdout.write(`at most ${beforeKib} KiB before, ${afterKib} KiB after\n`)
  expect((afterKib ?? Infinity) - (beforeKib ?? 0)).toBeLessThan(100 * 1024)
})

describe.each(['pipes', 'sockets'])('500 commands with %s', (kind) => {
  itWhere(hasProc, '/proc', 'leave no open file and no process', async () => {
    const program = startProgram('many-commands.ts', kind)
    expect(await program.ended).toBe(0)
    const [before, after] = JSON.parse(program.said()) as [before: Figures, after: Figures]
    expect(after.files).toBeLessThanOrEqual(before.files)
    expect(after.children).toBeLessThanOrEqual(before.children)
  })
})
