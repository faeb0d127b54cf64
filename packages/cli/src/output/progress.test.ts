import { expect, test } from 'vitest'
import type { ProcessIo } from '../process-io.js'
import { withProgress } from './progress.js'

test('the line of progress is cleared when the work throws', () => {
  let written = ''
  const stderr = { isTTY: true, write: (text: string) => void (written += text) }
  const work = (say: (text: string) => void): never => {
    say('simulating none (1 of 2) …')
    throw new Error('broken')
  }
  expect(() => withProgress({ stderr, env: {} } as unknown as ProcessIo, false, work)).toThrow('broken')
  expect(written).toBe('\r\u001b[Ksimulating none (1 of 2) …\r\u001b[K')
})
