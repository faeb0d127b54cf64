/** One process of a kind of step: `steps-child.js <kind> <rounds> <count>`; prints its figures as JSON. */
import { measureSteps } from './steps.js'

const [id = '', rounds = '1', count = '1000'] = process.argv.slice(2)
console.log(JSON.stringify(await measureSteps(id, Number(rounds), Number(count))))
