/** What goes on now, on a line of its own that goes away: on a terminal only. Imports process IO and styles. */
import type { ProcessIo } from '../process-io.js'
import { isTerminal } from './style.js'

const CLEAR = '\r\u001b[K'

/** The result of the work, which says what it does. Whatever becomes of it, the line is gone afterwards. */
export function withProgress<T>(
  { stderr, env }: ProcessIo,
  isQuiet: boolean,
  work: (say: (text: string) => void) => T,
): T {
  if (isQuiet || !isTerminal(stderr, env)) return work(() => undefined)
  try {
    return work((text) => stderr.write(CLEAR + text))
  } finally {
    stderr.write(CLEAR)
  }
}
