/**
 * Why a program could not be started, in words. The system says ENOENT for a missing program and for a missing directory
 * alike; here they are told apart. Imports Node and the command.
 */
import { accessSync, constants, existsSync, statSync } from 'node:fs'
import path from 'node:path'
import { refusal, shown } from './command-limits.js'
import type { Command } from './command.js'

const REASONS: Readonly<Record<string, string>> = {
  EAGAIN: 'the system has no room for another process: raise the limit (ulimit -u), or run fewer at once',
  EMFILE: 'too many files are open: raise the limit (ulimit -n), or run fewer at once',
  ENFILE: 'too many files are open on this machine: run fewer at once',
  ENOMEM: 'there is not enough memory',
  E2BIG: 'its arguments and environment are larger than the system takes: hand large values over in a file or as stdin',
  ENOEXEC: 'it is no program: a script needs a first line such as #!/bin/sh',
  ELOOP: 'its path leads around in circles',
  ENOTDIR: 'a part of its path is no directory',
  ETXTBSY: 'its file is being written: try again when that is done',
}

export function explainSpawnError(command: Pick<Command, 'argv' | 'env' | 'cwd'>, error: unknown): Error {
  const { code = 'UNKNOWN', message } = error as NodeJS.ErrnoException
  const place = directoryProblem(command.cwd)
  if (place !== null) return refusal(code, `the working directory ${shown(command.cwd)} ${place}`)
  const program = shown(command.argv[0] ?? '')
  const isPath = program.includes('/')
  // The system says the latter if it may not look into one of the directories.
  if (code === 'ENOENT' || (code === 'EACCES' && !isPath && !isInPath(program, command.env['PATH'] ?? ''))) {
    // A whole line in one word was meant for a shell.
    const isLine = command.argv.length === 1 && /\s/.test(program)
    const cure = isLine ? " (a line with arguments or operators needs a shell: sh -c '…')" : ''
    return refusal('ENOENT', `${program}: no such program${isPath ? '' : ' in PATH'}${cure}`)
  }
  if (code === 'EACCES') return refusal(code, `${program}: no permission to run it (is it a program? chmod +x)`)
  return Object.assign(refusal(code, `${program}: ${REASONS[code] ?? message}`), { cause: error })
}

function isInPath(program: string, directories: string): boolean {
  return directories.split(path.delimiter).some((directory) => existsSync(path.join(directory, program)))
}

function directoryProblem(directory: string): string | null {
  try {
    if (!statSync(directory).isDirectory()) return 'is no directory'
    accessSync(directory, constants.X_OK)
    return null
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return code === 'ENOENT' ? 'does not exist' : `cannot be entered (${code})`
  }
}
