import { measureOne } from './steps.js'
const [id = '', count = '1000'] = process.argv.slice(2)
await measureOne(id, Number(count))
