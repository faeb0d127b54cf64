/**
 * The stand-in for a test runner: `node suite.mjs NAME`. Exit code 1 is a test that fails, 75 (EX_TEMPFAIL) a machine that
 * does. Which attempt it is, every command is told by its environment.
 */
import { setTimeout as sleep } from 'node:timers/promises'

const attempt = Number(process.env.REPRISE_ATTEMPT ?? 1)

const SUITES = {
  unit: { tests: ['adds', 'subtracts', 'rounds up', 'rounds down'] },
  browser: {
    tests: ['opens the shop', 'fills the basket', 'pays'],
    broken: attempt < 3 && 'the browser did not start',
  },
  mail: { tests: ['sends', 'bounces'], failing: 'bounces' },
}

const { tests, broken, failing } = SUITES[process.argv[2]] ?? {}
if (tests === undefined) {
  console.error(`usage: suite.mjs ${Object.keys(SUITES).join(' | ')}`)
  process.exit(2)
}

for (const [index, name] of tests.entries()) {
  await sleep(200)
  if (index === 1 && broken) {
    console.error(broken)
    process.exit(75)
  }
  console.log(`${name === failing ? 'not ok' : 'ok'} ${index + 1} - ${name}`)
}
if (failing !== undefined) console.error(`1 of ${tests.length} tests failed: ${failing}`)
process.exitCode = failing === undefined ? 0 : 1
