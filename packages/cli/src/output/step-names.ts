/** What steps are called and how many attempts they have, as the events of a run tell it. Text of others is made plain. */
import type { RunEvent } from '@reprise/workflow'
import { plainText } from 'reprise/internal'

const MAX_NAME = 130

export class StepNames {
  private names = new Map<string, string>()
  private readonly attempts = new Map<string, number>()

  hear(event: RunEvent): void {
    if (event.type === 'run_started') this.names = new Map(event.steps.map(({ id, name }) => [id, name]))
    if (event.type === 'fallback_started') this.names.set(event.fallback.id, event.fallback.name)
    if ('attempts' in event) this.attempts.set(event.step, event.attempts)
  }

  nameOf({ step }: { readonly step: string }): string {
    return plainText(this.names.get(step) ?? step, MAX_NAME)
  }

  /** `fetch (attempt 2/5)`; of a step that is never retried, its name alone. */
  attemptOf(of: { readonly step: string; readonly attempt: number }): string {
    const attempts = this.attempts.get(of.step) ?? of.attempt
    return attempts === 1 ? this.nameOf(of) : `${this.nameOf(of)} (attempt ${of.attempt}/${attempts})`
  }
}
