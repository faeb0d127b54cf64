/** `script:` a function of a module, run in a thread of its own so that it can be ended. Imports the pool of threads. */
import { statSync } from 'node:fs'
import path from 'node:path'
import type { Json } from 'reprise/durable'
import type { ScriptAction } from '../plan/plan.js'
import { captureExceeded, CaptureError } from '../values/capture.js'
import { SetupError } from '../values/setup-error.js'
import { fillJson } from '../values/template.js'
import { errorOfScript, type ScriptFailure } from './script-error.js'
import type { StepContext, StepOutput } from './step-context.js'
import type { StepTools } from './step-tools.js'

/** The module itself is at fault, whatever it is given. */
const FAULTS: ReadonlySet<string> = new Set([
  'ERR_MODULE_NOT_FOUND',
  'ERR_UNKNOWN_FILE_EXTENSION',
  'ERR_UNSUPPORTED_DIR_IMPORT',
])

export async function runScript(action: ScriptAction, context: StepContext, tools: StepTools): Promise<StepOutput> {
  const { values, env, tag, cwd, attempt, runId, stepId, idempotencyKey, signal, graceMs, log, captureBytes } = context
  const file = path.resolve(context.documentDir, action.module)
  if (!isFile(file)) {
    throw new SetupError('missing_module', `there is no module \`${action.module}\` in ${context.documentDir}`)
  }
  const input = { with: fillJson(action.with, values), cwd, attempt, runId, stepId, idempotencyKey }
  // The tag, so that programs it starts are found should they be left over.
  const given = { name: action.export, input, values, env: { ...env, REPRISE_TAG: tag }, signal, graceMs, log }
  const answer = await tools.scripts.call(file, given)
  switch (answer.type) {
    case 'done':
      if (captureBytes > 0 && Buffer.byteLength(answer.json) > captureBytes) throw captureExceeded(captureBytes)
      return { output: JSON.parse(answer.json) as Json, exitCode: 0 }
    case 'no_json':
      throw new CaptureError(`${answer.problem}: a script returns what can be written as JSON`)
    case 'no_function': {
      const others =
        answer.exports.length === 0 ? 'it exports no function' : `functions are: ${answer.exports.join(', ')}`
      const missing = `\`${action.module}\` has no function \`${action.export}\` among its exports`
      throw new SetupError('invalid_module', `${missing}; ${others}`)
    }
    case 'failed':
      await log('stderr', Buffer.from(`${answer.failure.stack ?? answer.failure.message}\n`))
      throw answer.phase === 'load' ? loadError(action.module, answer.failure) : errorOfScript(answer.failure)
  }
}

function loadError(module: string, failure: ScriptFailure): Error {
  const error = errorOfScript(failure)
  const { code } = failure.fields
  if (failure.name !== 'SyntaxError' && !FAULTS.has(String(code))) return error
  const hint = code === 'ERR_UNKNOWN_FILE_EXTENSION' ? '; this Node runs .js, .mjs and .cjs' : ''
  return new SetupError('invalid_module', `cannot load \`${module}\`: ${failure.message}${hint}`, { cause: error })
}

function isFile(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.isFile() ?? false
}
