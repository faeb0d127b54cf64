/** Who changes something by hand, for its event. Imports Node. */
import { hostname, userInfo } from 'node:os'
import type { Actor } from 'reprise/internal'

/** The recorded reason of a change that was made without `--reason`. */
export const NO_REASON = 'by hand'

export function actorOf(reason: string | undefined): Actor {
  return { reason: reason ?? NO_REASON, by: `${userInfo().username}@${hostname()}` }
}
