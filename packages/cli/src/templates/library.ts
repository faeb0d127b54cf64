/** A program that calls the library. Imports types only. */
import type { Template } from './template.js'

const PROGRAM = `/** A call that fails at first, and a policy that sees it through: \`node example.mjs\`. */
import { createExecutor, recommended } from 'reprise'

// Retries with jitter, time limits, and a budget that keeps them from making an outage worse. One executor for the
// whole program: what calls share lives in it.
const executor = createExecutor(recommended({ retryOn: ['network', 'timeout', '5xx', 'rate_limit'] }))

let calls = 0

/** Put your own call here; hand the signal on, and a time limit reaches what it does. */
async function readPrice({ signal }) {
  signal.throwIfAborted()
  calls += 1
  if (calls < 3) throw Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:8080'), { code: 'ECONNREFUSED' })
  return 42
}

// \`executor.run\` gives the value, or rejects with the last error; \`inspect\` tells how it went as well.
const { ok, value, error, timeline } = await executor.inspect('price.read', readPrice)

for (const { attempt, outcome, delayBeforeMs, parkedMs } of timeline.attempts) {
  const waited = Math.round(delayBeforeMs + parkedMs)
  console.log(\`attempt \${attempt}: \${outcome}\${waited > 0 ? \`, after \${waited} ms\` : ''}\`)
}
if (!ok) throw error
console.log(\`the price is \${value}\`)
`

export const LIBRARY: Template = {
  files: { 'example.mjs': PROGRAM },
  next: ['npm install reprise', 'node example.mjs'],
}
