/** Whether the secrets of a workflow can be passed on and masked. Imports how long a secret has to be. */
import { SHORTEST_SECRET } from './secret-forms.js'

export interface SecretFault {
  readonly message: string
  readonly suggestion: string
  /** Names that are not set; empty if another thing is wrong. */
  readonly missing: readonly string[]
}

/** A secret that is missing would be an empty text in every command; one that is short would mask every text. */
export function faultOfSecrets(
  names: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): SecretFault | undefined {
  const missing = names.filter((name) => env[name] === undefined || env[name] === '')
  const short = names.filter((name) => (env[name] ?? '').trim().length < SHORTEST_SECRET && !missing.includes(name))
  if (short.length > 0) {
    return {
      message: `${short.join(', ')} is too short to be masked: it would be found in every text`,
      suggestion: `a secret has ${SHORTEST_SECRET} characters or more`,
      missing: [],
    }
  }
  if (missing.length === 0) return undefined
  const noun = missing.length === 1 ? 'the secret' : 'the secrets'
  return {
    message: `the workflow needs ${noun} ${missing.join(', ')} in the environment`,
    suggestion: 'set it in the environment of this process, or give it in the option `env`',
    missing,
  }
}
