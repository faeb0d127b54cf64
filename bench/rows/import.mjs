/** Import time of the root entry. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { figure, ratio } from '../goals.mjs'
import { median, shuffled } from '../harness.mjs'
import { modules } from '../peers.mjs'
import { entry, reprise } from '../reprise.mjs'

const FLOOR = 'floor: an empty module'
const probe = fileURLToPath(new URL('../import-probe.mjs', import.meta.url))
const run = promisify(execFile)

/** @type {import('../goals.mjs').Row} */
export default {
  title: 'Import of the root entry',
  unit: 'ms',
  columns: { ms: 'wall, ms', cpu: 'CPU, ms' },
  note: 'Time of the first `import()` in a fresh process, so the start of a bare Node is not in it; median of many processes, in random order.',
  floor: 'a file that is empty: finding and reading it.',
  processes: 1,
  goals: [
    {
      what: 'reprise ÷ fastest peer',
      value: ratio('reprise', undefined, 'ms'),
      floor: ratio(FLOOR, undefined, 'ms'),
      goal: 1,
    },
    { what: 'reprise', value: figure('reprise', 'ms'), floor: figure(FLOOR, 'ms'), goal: 6, stretch: 5, unit: 'ms' },
  ],
  measure: async ({ quick }) => {
    /** @type {Record<string, string>} */
    const targets = { [FLOOR]: new URL('../empty.mjs', import.meta.url).href }
    for (const name of Object.keys(modules)) targets[name] = import.meta.resolve(name)
    if (reprise) targets.reprise = entry.href
    /** @type {Record<string, { ms: number[], cpu: number[] }>} */
    const samples = {}
    for (let round = 0; round < (quick ? 4 : 40); round++) {
      for (const name of shuffled(Object.keys(targets))) {
        const { stdout } = await run(process.execPath, [probe, targets[name]])
        const { ms, cpu } = JSON.parse(stdout)
        const own = (samples[name] ??= { ms: [], cpu: [] })
        // the first round fills the caches of the file system
        if (round > 0) {
          own.ms.push(ms)
          own.cpu.push(cpu)
        }
      }
    }
    return Object.fromEntries(
      Object.entries(samples).map(([name, { ms, cpu }]) => [name, { ms: median(ms), cpu: median(cpu) }]),
    )
  },
}
