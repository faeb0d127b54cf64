/** `start-child.js URL`: a program with one durable step. Imports the library. */
import { openDurable } from '../../packages/reprise/src/open/open-durable.js'

const [url = ''] = process.argv.slice(2)
const durable = await openDurable(url)
await durable.task('step', { attempts: 3 }, (input: number) => input).run(1)
process.exit(0)
