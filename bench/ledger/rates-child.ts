/** One process of a rate: `rates-child.js <workload> <rounds> <scale>`; prints its figures as JSON. */
import { measureRates } from './rates.js'

const [id = '', rounds = '1', scale = '1'] = process.argv.slice(2)
console.log(JSON.stringify(await measureRates(id, Number(rounds), Number(scale))))
