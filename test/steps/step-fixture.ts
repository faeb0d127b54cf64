/** What tests of steps need: a directory, a context that remembers its log, and a plain runner of programs. */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach } from 'vitest'
import type { Command, CommandEnd } from '../../packages/workflow/src/process/command.js'
import { ScriptPool } from '../../packages/workflow/src/steps/script-pool.js'
import type { StepContext, Values } from '../../packages/workflow/src/steps/step-context.js'
import type { StepTools } from '../../packages/workflow/src/steps/step-tools.js'

const cleanups: (() => void | Promise<void>)[] = []
afterEach(async () => {
  for (const clean of cleanups.splice(0).toReversed()) await clean()
})

export function onEnd(clean: () => void | Promise<void>): void {
  cleanups.push(clean)
}

export function directory(): string {
  const made = mkdtempSync(path.join(tmpdir(), 'reprise-steps-'))
  onEnd(() => rmSync(made, { recursive: true, force: true }))
  return made
}

export function file(dir: string, name: string, text: string, mode = 0o644): string {
  writeFileSync(path.join(dir, name), text, { mode })
  return path.join(dir, name)
}

export interface TestContext extends StepContext {
  readonly logged: { stdout: string; stderr: string }
}

export function contextIn(dir: string, values: Values = {}, changes: Partial<StepContext> = {}): TestContext {
  const logged = { stdout: '', stderr: '' }
  return {
    runId: 'run-1',
    stepId: 'step',
    attempt: 1,
    execution: 1,
    idempotencyKey: 'key-1',
    signal: new AbortController().signal,
    values,
    env: { PATH: process.env['PATH'] ?? '' },
    cwd: dir,
    documentDir: dir,
    tag: 'tag-1',
    groupFile: path.join(dir, 'step.group'),
    graceMs: 200,
    captureBytes: 1024 * 1024,
    log: (stream, bytes) => {
      logged[stream] += Buffer.from(bytes).toString()
    },
    logged,
    ...changes,
  }
}

export class ExitError extends Error {
  readonly exitCode: number | null

  constructor(end: CommandEnd, what: string) {
    super(`${what}: ${end.spawnError?.message ?? `exit code ${end.exitCode}: ${end.stderrTail}`}`)
    this.exitCode = end.exitCode
  }
}

export function tools(changes: Partial<StepTools> = {}): StepTools {
  const scripts = new ScriptPool()
  onEnd(() => scripts.close())
  return {
    runCommand: runPlainly,
    failureOfCommand: (end, what) => new ExitError(end, what),
    scripts,
    isKnown: () => false,
    ...changes,
  }
}

/** Without groups, grace and back-pressure: those are the runner's own tests. */
export function runPlainly(command: Command): Promise<CommandEnd> {
  const [program = '', ...args] = command.argv
  const child = spawn(program, args, { cwd: command.cwd, env: command.env, signal: command.signal })
  const output = { stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) }
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].on('data', (bytes: Buffer) => {
      output[stream] = Buffer.concat([output[stream], bytes])
      void command.onOutput(stream, bytes)
    })
  }
  // A program may end without having read all of it.
  child.stdin.on('error', () => undefined)
  child.stdin.end(command.stdin ?? '')
  return new Promise((resolve) => {
    let spawnError: Error | null = null
    child.on('error', (error) => (spawnError = child.pid === undefined ? error : null))
    child.on('close', (exitCode, signal) => {
      const kept = output.stdout.subarray(0, command.keepStdoutBytes)
      resolve({
        exitCode: child.pid === undefined ? null : exitCode,
        signal,
        spawnError,
        stdout: kept.toString(),
        stdoutExceeded: output.stdout.length > command.keepStdoutBytes,
        stderrTail: output.stderr.toString().slice(-1000),
        stdoutTail: output.stdout.toString().slice(-1000),
        durationMs: 0,
      })
    })
  })
}
