/** The end of a run for those who listen: what is recorded is told before the store is closed. Imports types. */
import type { Durable } from 'reprise/durable'
import type { LiveEvents } from '../view/live-events.js'

/**
 * A store that gives whoever listens nothing for this long is taken for away: the close, which knows how to end against
 * such a store, is not kept waiting. Longer than a busy store needs for one read.
 */
const MOST_IDLE_MS = 5000

/** `durable`: closed then; absent if others use it. */
export async function closeAfterEvents(
  live: Pick<LiveEvents, 'flushed'> | undefined,
  durable: Pick<Durable, 'close'> | undefined,
): Promise<void> {
  await live?.flushed(MOST_IDLE_MS)
  try {
    await durable?.close()
  } finally {
    // Reads that were still waited for fail now, and what is told beside them follows.
    if (durable !== undefined) await live?.flushed(MOST_IDLE_MS)
  }
}
