/** Addresses: what is ours is taken out, what is secret is not shown, what cannot be read is refused. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LedgerError } from '../ledger/errors.js'
import { addressOf } from './address.js'

describe('an address', () => {
  it('goes to the driver as it is, and has a schema and connections', () => {
    expect(addressOf('postgres://ada:secret@db.example:5433/jobs?sslmode=require')).toEqual({
      connectionString: 'postgres://ada:secret@db.example:5433/jobs?sslmode=require',
      schema: 'reprise',
      connections: 6,
      name: 'postgres://ada@db.example:5433/jobs',
    })
  })

  it('may name its schema and how many connections; the driver does not hear of it', () => {
    const address = addressOf('postgresql://db/jobs?schema=mail_2&sslmode=require&connections=20')
    expect(address).toEqual({
      connectionString: 'postgresql://db/jobs?sslmode=require',
      schema: 'mail_2',
      connections: 20,
      name: 'postgres://db/jobs?schema=mail_2',
    })
  })

  it('may be that of a socket', () => {
    expect(addressOf('postgres:///jobs?host=/var/run/postgresql').name).toBe('postgres:///jobs')
  })

  it.each([
    '',
    'postgres',
    'mysql://db/jobs',
    'postgres:db',
    'http://postgres://',
    'postgres://db:port/jobs',
    '/a/file',
  ])('is refused if it is %j, with an example', (given) => {
    expect(() => addressOf(given)).toThrow('write it as postgres://user:password@host:5432/database')
  })

  it.each(['1', '0', '-3', '201', '2.5', 'many', '', '1e9'])('is refused with connections=%s', (count) => {
    const rule = `connections=${count} in the address of a PostgreSQL ledger must be a whole number of 2 to 200`
    expect(() => addressOf(`postgres://db/jobs?connections=${count}`)).toThrow(rule)
  })

  it.each(['Mail', 'a-b', 'a;b', '"a"', '1a', 'pg_mail', 'information_schema', 'a'.repeat(49), ' ', 'é'])(
    'is refused with the schema %j',
    (schema) => {
      const given = `postgres://db/jobs?schema=${encodeURIComponent(schema)}`
      expect(() => addressOf(given)).toThrow(`${JSON.stringify(schema)} cannot be the name of a ledger's schema`)
    },
  )

  it('never shows its password, whether it can be read or not', () => {
    const secret = fc
      .string({ minLength: 8, unit: fc.constantFrom('a', 'Z', '0', '-', '.', '%', '%2', '/', '?', '#', '@', ':') })
      .map((text) => `s3cr3t${text}`)
    fc.assert(
      fc.property(secret, fc.boolean(), (password, encoded) => {
        const given = encoded ? encodeURIComponent(password) : password
        let shown: string
        try {
          const { name } = addressOf(`postgres://ada:${given}@db/jobs?password=${given}`)
          shown = name
        } catch (error) {
          expect(error).toBeInstanceOf(LedgerError)
          shown = (error as Error).message
        }
        expect(shown).not.toContain('s3cr3t')
      }),
    )
  })
})
