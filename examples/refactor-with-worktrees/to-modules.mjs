// Turns a CommonJS module into an ES module. Exits with 75 when it is worth another try, with 65 when it is not.
import { readFileSync, writeFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'

const [file] = process.argv.slice(2)
await setTimeout(Number(process.env.PACE ?? 200))
if (file.endsWith('tax.js') && process.env.REPRISE_ATTEMPT === '1') {
  console.error('the formatter is busy')
  process.exit(75)
}
const text = readFileSync(file, 'utf8')
  .replaceAll(/const (\{[^}]*\}) = require\(('[^']*')\)/g, 'import $1 from $2')
  .replaceAll(/module\.exports = (\{[^}]*\})/g, 'export $1')
if (text.includes('require(')) {
  console.error('a module is loaded by a name that is known at run time')
  process.exit(65)
}
writeFileSync(file, text)
