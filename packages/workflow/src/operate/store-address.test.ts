import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { mistypedStore, storeWithoutPassword } from './store-address.js'

describe('an address as it is shown', () => {
  test('has no password, wherever that stood, and keeps what the next command needs', () => {
    const shown = [
      ['postgres://app:secret@db:5433/orders', 'postgres://app@db:5433/orders'],
      ['postgres://db/orders?user=app&password=secret', 'postgres://db/orders?user=app'],
      ['postgresql://app@db/orders?schema=two&sslmode=verify-full&sslrootcert=/etc/ca.pem', undefined],
      [
        'postgres://app:secret@db/orders?sslkey=/k&sslpassword=secret&schema=two',
        'postgres://app@db/orders?schema=two',
      ],
      ['postgres://app:sec@ret:x@db/orders', 'postgres://app@db/orders'],
      ['postgres://a b:secret@/x', 'postgres://…'],
      ['postgres://app:12/secret@db/orders', 'postgres://…'],
      ['postgres://app:secret@%2Fvar%2Frun%2Fpostgresql/x', 'postgres://app@%2Fvar%2Frun%2Fpostgresql/x'],
      ['sqlite:./a@b:c.db', undefined],
      ['sqlite:./a://b:c@d.db', undefined],
    ] as const
    for (const [given, expected] of shown) expect(storeWithoutPassword(given)).toBe(expected ?? given)
  })

  test('never holds a password, whatever it is made of', () => {
    const hidden = fc.string({ minLength: 8, maxLength: 20 }).map((text) => `pw${text}`)
    fc.assert(
      fc.property(hidden, fc.boolean(), (password, isParameter) => {
        const secret = encodeURIComponent(password)
        const store = isParameter ? `postgres://app@db/o?password=${secret}` : `postgres://app:${secret}@db/o`
        const shown = storeWithoutPassword(store)
        expect(shown).not.toContain(secret)
        expect(shown).not.toContain(password)
      }),
    )
  })
})

describe('what is no address, as it is quoted', () => {
  test('has nothing of what may be the password, with a scheme, half of one, or none', () => {
    const quoted = [
      ['postgres:/app:secret@127.0.0.1:5432/x', 'postgres:…@127.0.0.1:5432/x'],
      ['app:secret@127.0.0.1:5432/x', 'app:…@127.0.0.1:5432/x'],
      ['postgress://app:secret@db/x', 'postgress://app:…@db/x'],
      ['postgress://app:secr@et:@db/x', 'postgress://app:…@db/x'],
      ['mysql://a/b:secret@db/x?password=secret', 'mysql://a/b:…@db/x?…'],
      ['"postgres://app:secret@db/x"', '"postgres:…@db/x"'],
      ['host=db password=secret user=app', 'host=db password=…'],
      ['mysql://app@db:3306/x', undefined],
      ['runs.db', undefined],
    ] as const
    for (const [given, expected] of quoted) expect(mistypedStore(given)).toBe(expected ?? given)
  })

  test('never holds a password before the last @, whatever it is made of', () => {
    const scheme = fc.constantFrom('', 'postgres:/', 'postgres//', 'mysql://', 'postgres:', ' postgres://')
    fc.assert(
      fc.property(scheme, fc.string({ minLength: 1 }), (start, text) => {
        const shown = mistypedStore(`${start}app:<${text}>@db/orders`)
        expect(shown).not.toContain(`<${text}>`)
        expect(shown.endsWith('@db/orders')).toBe(true)
      }),
    )
  })
})
