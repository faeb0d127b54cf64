/** Whom a policy is compared with. Imports the simulator's types and the library's suggestions. */
import { OptionsError } from 'reprise'
import { nearest } from 'reprise/internal'
import type { Subject } from 'reprise/simulate'

/** A good handful: what most people have, and what each kind of cure does. */
const USUAL = ['none', 'exponential-3', 'exponential-5', 'breaker', 'finagle', 'grpc', 'recommended']
/** The text `none` is nobody, though the policy without retries has that name. */
const NO_RETRY = ['no-retry', 'none'] as const

/** `text` is `all`, `none`, a list of names, or absent for the usual ones. Never the one under test itself. Throws every problem at once. */
export function chooseCompared(text: string | undefined, known: readonly Subject[], under: string): readonly Subject[] {
  return wanted(text, known).filter(({ name }) => name !== under)
}

function wanted(text: string | undefined, known: readonly Subject[]): readonly Subject[] {
  if (text === undefined) return known.filter(({ name }) => USUAL.includes(name))
  if (text === 'all') return known
  const asked = text === 'none' ? [] : text.split(',').map((name) => name.trim())
  const names = [...new Set(asked.filter((name) => name !== '').map(policyName))]
  const problems = names
    .filter((name) => !known.some((subject) => subject.name === name))
    .map((name) => unknownName(name, known))
  if (problems.length > 0) throw new OptionsError('simulate', problems)
  return names.flatMap((name) => known.find((subject) => subject.name === name) ?? [])
}

function policyName(name: string): string {
  return name === NO_RETRY[0] ? NO_RETRY[1] : name
}

function unknownName(name: string, known: readonly Subject[]): OptionsError['problems'][number] {
  const names = known.map((subject) => subject.name)
  const near = nearest(name, [...names, 'all'])
  const suggestion = near === undefined ? `they are ${names.join(', ')}; or all, or none` : `did you mean \`${near}\`?`
  return { path: 'compare', message: `no policy is called ${JSON.stringify(name)}`, suggestion }
}
