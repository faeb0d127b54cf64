/** `spawns-child.js COUNT WIDTH`: a bare spawn from Node for each item, and nothing else. */
import { spawnTrue } from './spawn-true.mjs'

const [count = '100', width = '8'] = process.argv.slice(2)
let next = 0
const lane = async (): Promise<void> => {
  while (next++ < Number(count)) await spawnTrue()
}
await Promise.all(Array.from({ length: Number(width) }, lane))
