/** What a server says, and what becomes of it: tried again, looked up, or told with what to do. */
import { describe, expect, it } from 'vitest'
import { LedgerError } from '../ledger/errors.js'
import { DamagedRow } from '../ledger/rows.js'
import { failureKind, ledgerFailure } from './failures.js'

/** As the driver gives it. */
function said(code: string, severity = 'ERROR', routine = 'exec_simple_query'): Error {
  return Object.assign(new Error(`the server said ${code}`), { code, severity, routine })
}

/** As Node gives it. */
const broken = (code: string): Error => Object.assign(new Error(`connect ${code}`), { code })

describe('a failure', () => {
  it.each(['40001', '40P01', '55P03', '57014'])('%s may be tried again at once: nothing was done', (code) => {
    expect(failureKind(said(code))).toBe('again')
  })

  it.each([
    ['a backend that was ended', said('57P01', 'FATAL')],
    ['a server that crashed', said('57P02', 'FATAL')],
    ['a server that starts', said('57P03', 'FATAL')],
    ['no connection left', said('53300', 'FATAL')],
    ['a transaction that was idle for too long', said('25P03', 'FATAL')],
    ['a transaction that took too long', said('25P04')],
    ['a prepared statement that is not there', said('26000')],
    ['a prepared statement that would answer otherwise', said('0A000', 'ERROR', 'RevalidateCachedQuery')],
    ['a connection that failed', said('08006')],
    ['a panic', said('XX000', 'PANIC')],
    ['a refused connection', broken('ECONNREFUSED')],
    ['a reset connection', broken('ECONNRESET')],
    ['a name that was not found', broken('ENOTFOUND')],
    ['an answer that did not come', new Error('Query read timeout')],
    ['nothing at all', undefined],
  ])('by %s is a lost connection', (_name, error) => {
    expect(failureKind(error)).toBe('lost')
  })

  it.each([
    ['a wrong password', said('28P01', 'FATAL')],
    ['a database that is not there', said('3D000', 'FATAL')],
    ['a table that is not there', said('42P01')],
    ['a right that is missing', said('42501')],
    ['a text that cannot be kept', said('22021')],
    ['a full disk', said('53100')],
    ['a constraint', said('23505')],
    ['what the server cannot do at all', said('0A000')],
    ['a type that this program got wrong', new TypeError('undefined is not a function')],
    ['a number that this program got wrong', new RangeError('Invalid array length')],
    ['our own word', new LedgerError('closed', 'closed')],
    ['a damaged row', new DamagedRow('task a/b holds no JSON')],
  ])('by %s would fail again', (_name, error) => {
    expect(failureKind(error)).toBe('final')
  })
})

describe('what is told', () => {
  it.each([
    ['28P01', 'unusable', 'check the user and the password'],
    ['3D000', 'unusable', 'create the database'],
    ['42501', 'unusable', 'grant what is missing'],
    ['42P01', 'unusable', 'restore it from a backup'],
    ['25006', 'unusable', 'name the primary'],
    ['53100', 'unusable', 'make room on the disk'],
    ['58030', 'unusable', 'check the disk'],
    ['XX001', 'corrupt', 'the database is damaged'],
    ['53300', 'unreachable', 'raise max_connections'],
    ['22021', 'refused', 'U+0000'],
    ['57014', 'unreachable', 'check that the server runs'],
    ['08006', 'unreachable', 'check that the server runs'],
    ['23505', 'unusable', 'the server said 23505'],
  ])('of %s is %s, with what to do', (code, problem, cure) => {
    const failure = ledgerFailure('postgres://db/jobs', 'written', said(code))
    expect(failure.problem).toBe(problem)
    expect(failure.message).toMatch(/^The ledger postgres:\/\/db\/jobs cannot be written: the server said/)
    expect(failure.message).toContain(cure)
    expect(failure.cause).toBeInstanceOf(Error)
  })

  it('is left alone if it says so already', () => {
    const known = new LedgerError('closed', 'The ledger is closed')
    expect(ledgerFailure('here', 'read', known)).toBe(known)
  })

  it('of a damaged row names it', () => {
    expect(ledgerFailure('here', 'read', new DamagedRow('task a/b holds no JSON'))).toMatchObject({
      problem: 'corrupt',
      message: expect.stringMatching(/The ledger here is damaged: task a\/b holds no JSON: correct or remove that row/),
    })
  })

  it('of a name with two addresses says both', () => {
    const both = new AggregateError([broken('ECONNREFUSED ::1'), broken('ECONNREFUSED 127.0.0.1')])
    expect(ledgerFailure('here', 'opened', both).message).toContain('ECONNREFUSED ::1; connect ECONNREFUSED 127.0.0.1')
  })

  it('of what is no error at all is its text', () => {
    expect(ledgerFailure('here', 'read', 'a word').message).toContain('cannot be read: a word')
  })
})
