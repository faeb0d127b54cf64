/** What a step does, from its data. Pure. Imports the plan's types. */
import type { ClaudeData, HttpData, ScriptData, StepData, WriteFileData } from './document-data.js'
import type { Action, ClaudeAction, HttpAction, RunAction, ScriptAction, ShellAction, WriteFileAction } from './plan.js'

export function buildAction(step: StepData, claudeProgram: string | null): Action {
  if (step.shell !== undefined) return shellOf(step.shell)
  if (step.run !== undefined) return runOf(step.run)
  if (step.http !== undefined) return httpOf(step.http)
  if (step.script !== undefined) return scriptOf(step.script)
  if (step.claude !== undefined) return claudeOf(step.claude, claudeProgram)
  if (step.write_file !== undefined) return writeFileOf(step.write_file)
  throw new Error('a step that does nothing was not refused')
}

export function shellOf(command: string): ShellAction {
  return { kind: 'shell', command }
}

export function runOf(argv: readonly string[]): RunAction {
  return { kind: 'run', argv }
}

function httpOf(data: HttpData): HttpAction {
  const { url, method, headers = {}, body = null, expect = {}, redirect_origins: redirectOrigins = [] } = data
  const { status = [] } = expect
  return {
    kind: 'http',
    method: method ?? (body === null ? 'GET' : 'POST'),
    url,
    headers,
    body,
    expect: { status: typeof status === 'number' ? [status] : status },
    redirectOrigins,
  }
}

function scriptOf(data: string | ScriptData): ScriptAction {
  const { module, export: name = 'default', with: input = null } = typeof data === 'string' ? { module: data } : data
  return { kind: 'script', module, export: name, with: input }
}

function claudeOf(data: string | ClaudeData, program: string | null): ClaudeAction {
  const { prompt, args = [] } = typeof data === 'string' ? { prompt: data } : data
  return { kind: 'claude', prompt, program, args }
}

function writeFileOf({ path, content, mode }: WriteFileData): WriteFileAction {
  return { kind: 'write_file', path, content, mode: mode === undefined ? null : Number.parseInt(mode, 8) }
}
