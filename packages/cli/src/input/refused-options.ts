/** What the library finds wrong with options that came from flags, in the words of the flags. Imports the library. */
import { InputError } from '@reprise/workflow'
import { kebabCase } from '@reprise/workflow/internal'
import { isRepriseError } from 'reprise'

/** Throws; an error that is not about options as it is. `flagOf`: the flag of an option, where it has another name. */
export function refuseOptions(error: unknown, flagOf = (option: string): string => `--${kebabCase(option)}`): never {
  if (!isRepriseError(error, 'invalid_options')) throw error
  const problems = error.problems.map(({ path, message, ...rest }) => ({
    message: path === '' ? message : `${flagOf(path)}: ${message}`,
    ...rest,
  }))
  throw new InputError(problems)
}
