/** What the programs of peers have in common: what an item does, and what is printed. Imports Node and the bare spawn. */
import { spawnTrue } from '../spawn-true.mjs'

/** Jobs recorded by one call. */
export const BATCH = 1000

/** @param {string} name @returns {() => Promise<unknown>} */
export function operationOf(name) {
  return name === 'spawn' ? spawnTrue : async () => null
}

/** Prints what it took as JSON, without the start of the program. @param {() => Promise<void>} act */
export async function report(act) {
  const startMs = performance.now()
  const before = process.cpuUsage()
  await act()
  const { user, system } = process.cpuUsage(before)
  console.log(JSON.stringify({ seconds: (performance.now() - startMs) / 1000, cpuUs: user + system }))
}
