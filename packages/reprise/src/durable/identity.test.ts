import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import type { OwnerRecord } from '../ledger/records.js'
import { type Identity, lifeOf, ownIdentity } from './identity.js'

const self = ownIdentity()
const owner = (change: Partial<Identity> = {}): OwnerRecord => ({ ...self, startedAtMs: 0, leaseUntilMs: 0, ...change })
/** Of a process that has ended, and was waited for. */
const deadPid = spawnSync(process.execPath, ['-e', '']).pid

describe.runIf(process.platform === 'linux')('another owner', () => {
  it.each<[string, Partial<Identity>, ReturnType<typeof lifeOf>]>([
    ['this process itself', {}, 'alive'],
    ['a process that has ended', { pid: deadPid }, 'gone'],
    ['a living pid that another process had before', { processStart: '1' }, 'gone'],
    ['another machine', { host: 'elsewhere' }, 'unseen'],
    ['before the last boot', { bootId: `b/${self.bootId.split('/')[1]}` }, 'gone'],
    ['another container', { bootId: `${self.bootId.split('/')[0]}/pid:[1]`, pid: deadPid }, 'unseen'],
    ['a system that does not tell its boot', { bootId: '/' }, 'unseen'],
  ])('%s', (_what, change, life) => {
    expect(lifeOf(owner(change), self, 'machine')).toBe(life)
  })

  it('of another boot may be another machine of the same name, where a ledger spans many', () => {
    const other = owner({ bootId: `b/${self.bootId.split('/')[1]}` })
    expect(lifeOf(other, self, 'network')).toBe('unseen')
    expect(lifeOf(owner({ pid: deadPid }), self, 'network')).toBe('gone')
  })

  it('has an id of its own every time', () => {
    expect(ownIdentity().id).not.toBe(self.id)
    expect(ownIdentity()).toMatchObject({ pid: process.pid, host: self.host, bootId: self.bootId })
  })
})
