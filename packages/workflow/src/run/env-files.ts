/** The files that `env_file` of a document names. Imports Node's files, the errors of documents and their reader. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { InputError } from '../document/problem.js'
import type { Plan } from '../plan/plan.js'
import { ENV_FILE_FORM, parseEnvFile } from '../values/env-file.js'

type Variables = Readonly<Record<string, string | undefined>>

/**
 * The variables of the process with those of the files of the plan over them; of two files the later one counts. Read anew
 * by every process that conducts the run: what stands in them is not recorded.
 */
export function withEnvFiles<V extends Variables>({ envFiles }: Pick<Plan, 'envFiles'>, directory: string, env: V): V {
  if (envFiles.length === 0) return env
  return Object.assign({}, env, ...envFiles.map((name) => readEnvFile(path.resolve(directory, name)))) as V
}

function readEnvFile(file: string): Readonly<Record<string, string>> {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    const message = `\`env_file\` cannot be read: ${(error as Error).message}`
    throw new InputError([{ file, message, suggestion: 'paths begin at the directory of the workflow file' }])
  }
  const { variables, problems } = parseEnvFile(text)
  if (problems.length === 0) return variables
  const placed = problems.map((one) => ({ file, ...one, column: 1, suggestion: ENV_FILE_FORM }))
  throw new InputError(placed)
}
