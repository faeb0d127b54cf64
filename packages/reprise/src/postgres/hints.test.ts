/** Who listens has one connection for it, however often he stops and begins, and whatever fails meanwhile. */
import { EventEmitter } from 'node:events'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Connections } from './connections.js'
import { Hints } from './hints.js'
import type { Reader } from './reader.js'
import { statementsOf } from './statements.js'

class FakeClient extends EventEmitter {
  readonly asked: string[] = []
  isOpen = true
  private readonly refusal: Error | undefined

  constructor(refusal?: Error) {
    super()
    this.refusal = refusal
  }

  async query(sql: string): Promise<void> {
    if (this.refusal !== undefined) throw this.refusal
    this.asked.push(sql)
  }

  async end(): Promise<void> {
    this.isOpen = false
    this.emit('end')
  }

  unref(): void {}
}

/** A server that refuses connections, or what is asked, so many times. */
class FakeServer {
  readonly clients: FakeClient[] = []
  refusals = 0
  broken = 0
  private readonly connections = {
    single: async () => {
      if (this.refusals-- > 0) throw new Error('connect ECONNREFUSED')
      const client = new FakeClient(this.broken-- > 0 ? new Error('terminated') : undefined)
      this.clients.push(client)
      return client
    },
  }
  readonly hints = new Hints(
    'reprise',
    this.connections as unknown as Connections,
    {} as unknown as Reader,
    statementsOf('reprise'),
  )

  get open(): FakeClient[] {
    return this.clients.filter(({ isOpen }) => isOpen)
  }

  say(payload: string): void {
    for (const client of this.open) client.emit('notification', { payload })
  }
}

let server: FakeServer
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  server = new FakeServer()
})
afterEach(() => {
  server.hints.close()
  vi.useRealTimers()
})

/** Longer than any pause before another try. */
const later = (): Promise<unknown> => vi.advanceTimersByTimeAsync(5000)

describe('who stops listening and begins again at once', () => {
  it('has one connection, and hears of it once', async () => {
    const [before, after] = [vi.fn(), vi.fn()]
    const stop = await server.hints.listen(before)
    stop()
    await server.hints.listen(after)
    await later()
    expect(server.open).toHaveLength(1)
    server.say('another')
    expect(before).not.toHaveBeenCalled()
    expect(after).toHaveBeenCalledTimes(1)
  })

  it('has one connection although another try was due since the first had failed', async () => {
    server.refusals = 1
    const stop = await server.hints.listen(vi.fn())
    stop()
    await server.hints.listen(vi.fn())
    await later()
    expect(server.open).toHaveLength(1)
    expect(server.open[0]?.asked).toEqual(['LISTEN reprise_reprise'])
  })

  it('has one connection although the one before was lost just now', async () => {
    const stop = await server.hints.listen(vi.fn())
    await server.open[0]?.end()
    stop()
    await server.hints.listen(vi.fn())
    await later()
    expect(server.open).toHaveLength(1)
  })
})

describe('a connection for listening', () => {
  it('is one for all who listen', async () => {
    await Promise.all([server.hints.listen(vi.fn()), server.hints.listen(vi.fn())])
    await server.hints.listen(vi.fn())
    expect(server.clients).toHaveLength(1)
  })

  it('on which the server does not listen is closed, and another one is made', async () => {
    server.broken = 1
    await server.hints.listen(vi.fn())
    expect(server.open).toHaveLength(0)
    await later()
    expect(server.clients).toHaveLength(2)
    expect(server.open).toHaveLength(1)
  })

  it('that was lost is made again, and all look for what they may have missed', async () => {
    const heard = vi.fn()
    await server.hints.listen(heard)
    await server.open[0]?.end()
    expect(heard).not.toHaveBeenCalled()
    await later()
    expect(server.open).toHaveLength(1)
    expect(heard).toHaveBeenCalledTimes(1)
  })

  it('is not made again when nobody listens any more, or all is closed', async () => {
    const stop = await server.hints.listen(vi.fn())
    await server.open[0]?.end()
    stop()
    await later()
    server.refusals = 1
    await server.hints.listen(vi.fn())
    server.hints.close()
    await later()
    expect(server.clients).toHaveLength(1)
  })
})
