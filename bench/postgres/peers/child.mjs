/** One process of one peer: `child.mjs PEER JSON`. Imports the peer it is asked for. */
import { perform } from '../acts.mjs'

const [name = '', argument] = process.argv.slice(2)
await perform(await import(`./${name}.mjs`), argument)
