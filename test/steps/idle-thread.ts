/** Runs a script and says what it returned; then nothing is left to do, and the process should end by itself. */
import { ScriptPool } from '../../packages/workflow/src/steps/script-pool.js'

const [file = ''] = process.argv.slice(2)
const answer = await new ScriptPool().call(file, {
  name: 'default',
  input: {},
  values: {},
  env: {},
  signal: new AbortController().signal,
  graceMs: 1000,
  log: () => undefined,
})
console.log(answer.type === 'done' ? answer.json : answer.type)
