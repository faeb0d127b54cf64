/**
 * What steps are called: the given id, else the name made fit, else the position. Pure.
 *
 * Invariants: the same steps get the same ids, each once, letter case aside, for some file systems do not see it; every
 * id fits `STEP_ID`. A given id is never changed: names give way to it. Imports the rules of names.
 */
import { faultOfName, STEP_ID } from '../document/names.js'

/** Room for `-2` and the like. */
const MAX_SLUG = 120

export interface NamedStep {
  readonly id: string | undefined
  readonly name: string | undefined
}

export function stepIds(steps: readonly NamedStep[]): string[] {
  if (steps.every(({ id }) => id !== undefined)) return steps.map(({ id }) => id as string)
  const taken = new Set<string>()
  for (const { id } of steps) if (id !== undefined) taken.add(id.toLowerCase())
  /** By slug, the number to try next: many steps of one name must not take long. */
  const numbers = new Map<string, number>()
  return steps.map(({ id, name }, index) => {
    if (id !== undefined) return id
    const slug = (name === undefined ? '' : slugOf(name)) || `step-${index + 1}`
    let free = slug
    let number = numbers.get(slug.toLowerCase()) ?? 2
    for (; taken.has(free.toLowerCase()); number++) free = `${slug}-${number}`
    numbers.set(slug.toLowerCase(), number)
    taken.add(free.toLowerCase())
    return free
  })
}

/** A name as an id: `Über die API` is `Uber-die-API`. Empty if nothing of it can be kept. */
export function slugOf(name: string): string {
  if (faultOfName(name, STEP_ID) === undefined && name.length <= MAX_SLUG) return name
  return name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/-*[^A-Za-z0-9._-]+-*/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, MAX_SLUG)
    .replace(/(?:\.fallback|[^A-Za-z0-9])+$/, '')
}
