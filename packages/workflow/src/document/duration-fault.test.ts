import { expect, test } from 'vitest'
import { faultOfDuration, shortForm } from './duration-fault.js'

test.each([
  ['5  minutes', '5m'],
  ['30 S', '30s'],
  ['1.5 Hours', '1.5h'],
  ['200 Milliseconds', '200ms'],
  [' 10sec', '10s'],
  ['2\tdays', '2d'],
])('%s, a duration that is written another way, is answered with %s', (written, meant) => {
  expect(faultOfDuration(written)).toContain('is not a duration')
  expect(shortForm(written)).toBe(`did you mean \`${meant}\`?`)
  expect(faultOfDuration(meant)).toBeUndefined()
})

test.each(['5 months', 'soon', '5', 'm', 5, null])('%s has no short form', (written) => {
  expect(shortForm(written)).toBeUndefined()
})
