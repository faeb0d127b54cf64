/** Ends what has the tag that is its argument, and prints how many there were. Imports the process runner. */
import { endLeftovers } from '../../packages/workflow/src/process/end-leftovers.js'

process.stdout.write(`${await endLeftovers(process.argv[2] ?? '')}\n`)
