/** What to type next, for somebody who has read the figures. Imports types only. */
import type { Simulation, UnderTest } from '@reprise/workflow/internal'

/** What was typed. */
interface Typed {
  readonly file?: string | undefined
  readonly compare?: string | undefined
  readonly svg?: string | undefined
  readonly fault?: string | true | undefined
}

const MAX_STEPS = 2

export function nextSteps({ policies }: Simulation, { policy }: UnderTest, typed: Typed): string {
  const [subject] = policies
  const isLost = subject.recoveryMs === null
  const isOurs = typed.file === undefined && subject.name !== 'yours'
  const steps = [
    isOurs && '`reprise simulate policy.yaml` takes a policy of your own',
    isLost && policy.budget === undefined && '`--budget adaptive` shows what a budget changes',
    typed.compare !== 'all' && '`--compare all` shows every well-known policy',
    typed.svg === undefined && '`--svg storm.svg` draws a picture',
    typed.fault === undefined && '`--fault capacity` tries a server at half its strength',
    '`--seed 2` tells chance from rule',
  ]
  return `${steps
    .filter((step) => step !== false)
    .slice(0, MAX_STEPS)
    .join('; ')}.`
}
