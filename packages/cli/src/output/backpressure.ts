/** Passes bytes on to an output of the process, no faster than they are read. Imports the types of process IO. */
import type { Output } from '../process-io.js'

/** Waits where the reader is slow, so that what is not read yet stays with the command. */
export function written(output: Output, bytes: Uint8Array): Promise<void> | void {
  const stream = output as unknown as NodeJS.WriteStream
  if (typeof stream.once !== 'function') return void output.write(Buffer.from(bytes).toString())
  // A stream that has failed says nothing more: whoever waited for it would wait for ever.
  if (!stream.writable || stream.write(bytes)) return
  return drain(stream)
}

/** Waits until the reader has taken what was written before, as far as the stream asks for it. */
export function drained(output: Output): Promise<void> | void {
  const stream = output as unknown as NodeJS.WriteStream
  if (typeof stream.once === 'function' && stream.writable && stream.writableNeedDrain) return drain(stream)
}

function drain(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      for (const event of ['drain', 'error', 'close']) stream.off(event, end)
      resolve()
    }
    // What cannot be written any more is told elsewhere; nobody waits for it.
    for (const event of ['drain', 'error', 'close']) stream.once(event, end)
  })
}
