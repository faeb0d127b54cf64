/** `start-child.js FILE`: a program with one durable step. Imports the library. */
import { openChosenDurable } from '../../test/chosen-driver.js'

const [file = ''] = process.argv.slice(2)
const durable = await openChosenDurable(file)
await durable.task('step', { attempts: 3 }, (input: number) => input).run(1)
process.exit(0)
