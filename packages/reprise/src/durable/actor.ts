/** Who changes something by hand, and why: both are kept in its event. Imports core's options. */
import type { OptionCheck } from '../core/options.js'

/** Who asks for a change by hand, and why. */
export interface Actor {
  /** Why, for people who find the change later: 1 to 1000 characters. */
  readonly reason: string
  /** Who asked for it: 1 to 200 characters. @default nobody is named */
  readonly by?: string
}

const isText = (most: number) => (value: unknown) => {
  const length = typeof value === 'string' ? value.trim().length : 0
  return length >= 1 && length <= most
}

/** The checks of both. */
export const ACTOR = {
  reason: [isText(1000), 'a reason of 1 to 1000 characters, such as "the provider is back"'],
  by: [isText(200), 'a name of 1 to 200 characters'],
} as const satisfies Readonly<Record<string, OptionCheck>>

/** As the event has it. */
export function actorOf({ reason, by }: Actor): { readonly reason: string; readonly by?: string } {
  return { reason: reason.trim(), ...(by !== undefined && { by: by.trim() }) }
}
