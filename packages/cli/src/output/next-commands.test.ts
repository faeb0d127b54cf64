import { expect, test } from 'vitest'
import { commandWords } from './next-commands.js'

test('the address of the store is in the commands to type next, unless they find it by themselves', () => {
  const store = 'postgres://app:secret@db/orders?schema=two'
  expect(commandWords({ store }, {})(['ps'])).toBe("reprise ps --store 'postgres://app@db/orders?schema=two'")
  expect(commandWords({ store }, { REPRISE_STORE: store })(['ps'])).toBe('reprise ps')
})
