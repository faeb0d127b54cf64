import { expect, test } from 'vitest'
import { secretPlaces } from './secret-places.js'

const document = {
  steps: [{ shell: 'echo' }, { http: { url: 'https://x/?key=tok-12345', headers: { 'x-tok-99999': 1 } } }],
}

test('a secret is found in texts, numbers and names of fields, and its place is named without it', () => {
  const found = (value: string): unknown => secretPlaces({ KEY: value }, { 'the file': document, id: 12_345_678 })
  expect(found('tok-12345')).toEqual([{ secret: 'KEY', place: 'the file.steps[1].http.url' }])
  expect(found('tok-99999')).toEqual([
    { secret: 'KEY', place: 'the file.steps[1].http.headers, in the name of a field' },
  ])
  expect(found('12345678')).toEqual([{ secret: 'KEY', place: 'id' }])
  expect(found('tok-00000')).toEqual([])
})

test('a secret without a value, or with one too short to be masked, is nowhere', () => {
  expect(secretPlaces({ A: '', B: 'x' }, { text: 'x' })).toEqual([])
})
