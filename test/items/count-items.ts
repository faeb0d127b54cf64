/**
 * Reads the items of an input and prints how many there are and how much memory that took, as JSON: started with the
 * input, the selection and a directory. Imports the reader of items and Node.
 */
import { readFileSync } from 'node:fs'
import { readItems } from '../../packages/workflow/src/items/read-items.js'
import type { MapPlan } from '../../packages/workflow/src/plan/map-plan.js'

const [map, documentDir] = process.argv.slice(2) as [string, string]
const sources = {
  documentDir,
  values: {},
  openCommand: () => Promise.reject(new Error('no command')),
  openStdin: () => process.stdin,
}
let [count, largestRss, last] = [0, 0, '']
const started = performance.now()
try {
  for await (const item of readItems(JSON.parse(map) as Pick<MapPlan, 'input' | 'selection'>, sources)) {
    if (++count % 1000 === 0) largestRss = Math.max(largestRss, process.memoryUsage.rss())
    last = item.id
  }
} catch (error) {
  last = String(error)
}
const ms = Math.round(performance.now() - started)
console.log(JSON.stringify({ count, last, ms, peakMb: Math.round(peakRss() / 1e6) }))

/** Not `resourceUsage`, whose peak a process inherits from the one that started it. */
function peakRss(): number {
  try {
    const [, kib] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
    if (kib !== undefined) return Number(kib) * 1024
  } catch {
    // Not Linux.
  }
  return largestRss
}
