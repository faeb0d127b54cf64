/** `spawns-child.js <count>`: prints what spawns cost as JSON. */
import { measureSpawns } from './spawns.js'

const [count = '200'] = process.argv.slice(2)
console.log(JSON.stringify(await measureSpawns(Number(count))))
