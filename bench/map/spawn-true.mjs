/** A process for one item, as a program would start it that wants to hear what it says. Imports Node. */
import { spawn } from 'node:child_process'

/** @returns {Promise<void>} */
export function spawnTrue() {
  return new Promise((resolve, reject) => {
    const child = spawn('true', { stdio: ['ignore', 'pipe', 'pipe'] })
    child.stdout.resume()
    child.stderr.resume()
    child.once('error', reject)
    child.once('close', () => resolve())
  })
}
