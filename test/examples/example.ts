/**
 * An example in a directory of its own, so that none leaves anything in the repository: run by the very command that its
 * README shows, or by the built command line. Imports Node and the fixture of workflows.
 */
import { execFile } from 'node:child_process'
import { cpSync, existsSync, readdirSync, symlinkSync } from 'node:fs'
import path from 'node:path'
import type { StepView } from '@reprise/workflow/internal'
import type { TestContext } from 'vitest'
import { findFences } from '../docs/fences.js'
import { root, CliFixture } from '../workflow/cli-fixture.js'

const bin = path.join(root, 'packages/cli/bin/reprise.js')
const examples = path.join(root, 'examples')

/** Those with a directory and a page of their own. */
export const EXAMPLES = readdirSync(examples).filter((name) => existsSync(path.join(examples, name, 'README.md')))

export interface Finished {
  readonly code: number
  readonly said: string
}

export class Example extends CliFixture {
  readonly name: string

  /** `NAME/`, or `NAME.yaml` with what it needs in `NAME/`. Gone when the test is over: tests run at the same time. */
  constructor(name: string, { onTestFinished }: Pick<TestContext, 'onTestFinished'>) {
    super()
    this.name = name
    const isFile = existsSync(path.join(examples, `${name}.yaml`))
    cpSync(path.join(examples, name), isFile ? this.path(name) : this.directory, { recursive: true })
    if (isFile) cpSync(path.join(examples, `${name}.yaml`), this.path(`${name}.yaml`))
    // Where a program of the clone would find its packages.
    symlinkSync(path.join(root, 'node_modules'), this.path('node_modules'))
    onTestFinished(() => this.remove())
  }

  /** What its README says to type first. */
  command(): string {
    const [first] = findFences(this.read('README.md'), 'README.md').filter(({ language }) => language === 'sh')
    if (first === undefined) throw new Error(`The README of ${this.name} has no command`)
    return first.code.trim()
  }

  /** `npx reprise` is the one that was built. */
  type(command: string): Promise<Finished> {
    const typed = command.replaceAll('npx reprise', `'${process.execPath}' '${bin}'`)
    const outer = Object.entries(process.env).filter(([name]) => !name.startsWith('REPRISE_'))
    const env = { ...Object.fromEntries(outer), ...this.env, NO_COLOR: '1' }
    return new Promise((resolve) =>
      execFile('sh', ['-c', typed], { cwd: this.directory, env }, (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : Number(error.code ?? -1), said: stdout + stderr }),
      ),
    )
  }

  /** The only run that it has kept. */
  run(): string {
    const [run, ...others] = readdirSync(this.path('.reprise/runs'))
    if (run === undefined || others.length > 0) throw new Error(`There are ${others.length + 1} runs`)
    return run
  }

  /** What the first execution of an attempt of r1 has written so far. */
  said(step: string, attempt = 1): string {
    return this.read(`.reprise/runs/r1/${step}/1.${attempt}.1.log`)
  }

  /** What is there beside the files that it came with. */
  written(): string[] {
    const own = new Set(readdirSync(path.join(examples, this.name)))
    return readdirSync(this.directory).filter((file) => !own.has(file) && file !== 'node_modules')
  }
}

export function recovered(steps: readonly StepView[]): string[] {
  return steps.filter(({ state }) => state === 'recovered').map(({ id }) => id)
}
