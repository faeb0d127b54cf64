/** Programs and where they are. Imports Node's file system. */
import { accessSync, constants, existsSync, statSync } from 'node:fs'
import path from 'node:path'
import { SetupError } from '../values/setup-error.js'

type Environment = Readonly<Record<string, string>>

/** By the search path: each is searched once. */
const shells = new Map<string, readonly string[]>()

/** Where a program was found before, by what was searched for: that it is still there is soon seen. */
const programs = new Map<string, string>()
const MOST_KNOWN = 1000

/** The file that a name stands for, as a shell would find it; null if there is none. */
export function findProgram(name: string, env: Environment, cwd: string): string | null {
  return placesOf(name, env, cwd).find(isProgram) ?? null
}

function placesOf(name: string, env: Environment, cwd: string): string[] {
  if (name === '') return []
  if (name.includes('/')) return [path.resolve(cwd, name)]
  const directories = (env['PATH'] ?? '').split(path.delimiter)
  // An empty entry is the working directory.
  return directories.map((directory) => path.resolve(cwd, directory, name))
}

/** The program's file. Throws a `SetupError` if there is none; `cure` is added to it. */
export function expectProgram(name: string, env: Environment, cwd: string, cure = ''): string {
  const key = `${name}\0${cwd}\0${env['PATH'] ?? ''}`
  const known = programs.get(key)
  if (known !== undefined && isProgram(known)) return known
  const found = findProgram(name, env, cwd)
  if (found !== null) {
    if (programs.size >= MOST_KNOWN) programs.clear()
    programs.set(key, found)
    return found
  }
  // In PATH a directory of that name is passed over, as a shell does.
  const isFound = (file: string): boolean => existsSync(file) && (name.includes('/') || !isDirectory(file))
  const unusable = placesOf(name, env, cwd).find(isFound)
  if (unusable !== undefined) {
    const why = isDirectory(unusable) ? 'it is a directory' : 'no permission to run it (is it a program? chmod +x)'
    throw new SetupError('not_executable', `\`${name}\` cannot be run: ${why}`)
  }
  const place = name.includes('/') ? `no program \`${name}\`, seen from ${cwd}` : `no program \`${name}\` in PATH`
  throw new SetupError('missing_program', `there is ${place}${cure}`)
}

/** What runs shell text: bash that stops at the first failure, also within a pipe; else sh that does so where it can. */
export function shellFor(env: Environment, cwd: string): readonly string[] {
  const search = env['PATH'] ?? ''
  let shell = shells.get(search)
  if (!shell) {
    const bash = findProgram('bash', env, cwd)
    shell = bash === null ? ['sh', '-eu', '-c'] : [bash, '-euo', 'pipefail', '-c']
    shells.set(search, shell)
  }
  return shell
}

function isDirectory(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.isDirectory() === true
}

function isProgram(file: string): boolean {
  try {
    // Most places do not have it, and an error that is thrown for each is slow.
    if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) return false
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
