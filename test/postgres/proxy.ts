/**
 * A network between a PostgreSQL client and its server that fails when it is told to: cut exactly at a commit, silent in
 * one or both directions, slow. Over a silence nothing gets through, not even that somebody has hung up; afterwards what
 * was sent arrives late, or all connections are reset. Imports Node, the slow line and what the messages mean.
 */
import { createServer, connect, type AddressInfo, type Server, type Socket } from 'node:net'
import { DelayLine } from './delay-line.js'
import { ClientStream, doesCommit, ServerStream, statusAfter, type TransactionStatus, type Unit } from './wire.js'

/**
 * When a connection is cut: before the server hears of the commit; right after it was sent, so that nobody can say; after
 * the server has answered, so that it certainly happened, and the client is not told; or while it is on its way, so that
 * it arrives a good while after the client has heard that the connection is lost.
 */
export type CutMoment = 'before' | 'during' | 'after' | 'on the way of'
export const CUT_MOMENTS: readonly CutMoment[] = ['before', 'during', 'after', 'on the way of']
/** Time enough to ask over another connection what became of it. */
const LATE_MS = 150

export type Silence = 'none' | 'answers' | 'both'

interface Cut {
  readonly moment: CutMoment
  left: number
  done(statement: string): void
}

export class PostgresProxy {
  /** Commits that were seen, whatever became of them. */
  commits = 0
  /** Each way. */
  delayMs = 0
  private silence: Silence = 'none'
  private readonly listener: Server
  private readonly links = new Set<Link>()
  private cut: Cut | undefined = undefined
  private readonly targetPort: number

  private constructor(targetPort: number) {
    this.targetPort = targetPort
    this.listener = createServer((client) => this.accept(client))
  }

  static async listen(targetPort: number): Promise<PostgresProxy> {
    const proxy = new PostgresProxy(targetPort)
    await new Promise<void>((resolve, reject) => {
      proxy.listener.once('error', reject)
      proxy.listener.listen(0, '127.0.0.1', resolve)
    })
    return proxy
  }

  get port(): number {
    return (this.listener.address() as AddressInfo).port
  }

  /** Of the same database, through here. */
  urlOf(url: string): string {
    const through = new URL(url)
    through.port = String(this.port)
    return through.href
  }

  get connections(): number {
    return this.links.size
  }

  /** The n-th commit from now on; resolves with its statement when the connection was cut. */
  cutAtCommit(moment: CutMoment, nth = 1): Promise<string> {
    return new Promise((resolve) => {
      this.cut = { moment, left: nth, done: resolve }
    })
  }

  /** Nothing gets through any more. */
  silenceAll(silence: Exclude<Silence, 'none'> = 'both'): void {
    this.silence = silence
  }

  /** What was sent meanwhile arrives now, or never. */
  heal(how: 'late' | 'reset' = 'late'): void {
    this.silence = 'none'
    for (const link of this.links) {
      if (how === 'reset') link.reset()
      else link.flush()
    }
  }

  /** Every connection, wherever it is. */
  resetAll(): void {
    for (const link of this.links) link.reset()
  }

  async close(): Promise<void> {
    this.resetAll()
    await new Promise<void>((resolve) => void this.listener.close(() => resolve()))
  }

  /** Whether this commit is the one, seen once each. */
  takeCut(): Cut | undefined {
    this.commits++
    const { cut } = this
    if (cut === undefined || --cut.left > 0) return undefined
    this.cut = undefined
    return cut
  }

  isSilent(way: 'asking' | 'answering'): boolean {
    return this.silence === 'both' || (this.silence === 'answers' && way === 'answering')
  }

  private accept(client: Socket): void {
    const link = new Link(this, client, connect(this.targetPort, '127.0.0.1'), () => this.links.delete(link))
    this.links.add(link)
  }
}

/** Bytes, the end of them, or what is done in their place when they would arrive. */
type Parcel = Buffer | 'end' | (() => void)
type Way = 'asking' | 'answering'

/** One connection: two ways, each in order. */
class Link {
  private readonly proxy: PostgresProxy
  private readonly client: Socket
  private readonly server: Socket
  private readonly asked: ClientStream
  private readonly answers = new ServerStream()
  private readonly waiting: Readonly<Record<Way, Parcel[]>> = { asking: [], answering: [] }
  private readonly lines: Readonly<Record<Way, DelayLine<Parcel>>> = {
    asking: new DelayLine((parcel) => this.deliver('asking', parcel)),
    answering: new DelayLine((parcel) => this.deliver('answering', parcel)),
  }
  /** As it will be when all that was sent has been done. */
  private status: TransactionStatus = 'I'
  /** Units that the server is to answer, all in all. */
  private sent = 0
  /** To be made when the server has answered so many. */
  private late: { readonly answered: number; make(): void } | undefined = undefined
  private isOver = false
  /** The client is gone, and the server does not know. */
  private isStranded = false

  constructor(proxy: PostgresProxy, client: Socket, server: Socket, onOver: () => void) {
    this.proxy = proxy
    this.client = client
    this.server = server
    this.asked = new ClientStream(() => client.write('N'))
    let open = 2
    for (const [socket, way] of [[client, 'asking'] as const, [server, 'answering'] as const]) {
      socket.setNoDelay(true)
      socket.on('error', () => undefined)
      socket.on('close', () => {
        if (!this.isStranded) this.pass(way, 'end')
        else if (way === 'answering') this.late?.make()
        if (--open === 0) onOver()
      })
    }
    client.on('data', (chunk) => {
      for (const unit of this.asked.read(chunk)) this.ask(unit)
    })
    server.on('data', (chunk) => this.answer(chunk))
  }

  reset(): void {
    this.isOver = true
    this.client.resetAndDestroy()
    this.server.resetAndDestroy()
  }

  /** What has waited. */
  flush(): void {
    for (const way of ['asking', 'answering'] as const)
      for (const parcel of this.waiting[way].splice(0)) this.pass(way, parcel)
  }

  private ask(unit: Unit): void {
    if (this.isOver || this.isStranded) return
    // One that is lost in a silence is not sent, and so cannot be cut.
    if (this.sent === this.answers.answered) this.status = this.answers.status
    const commits = !this.proxy.isSilent('asking') && doesCommit(unit, this.status)
    this.status = statusAfter(unit, this.status)
    if (unit.isAnswered) this.sent++
    const cut = commits ? this.proxy.takeCut() : undefined
    if (cut === undefined) {
      this.pass('asking', unit.bytes)
      return
    }
    const make = (): void => {
      this.late = undefined
      this.reset()
      cut.done(unit.texts.join('; '))
    }
    if (cut.moment === 'before') {
      make()
    } else if (cut.moment === 'during') {
      // Behind what was sent before it and is still on its way.
      this.lines.asking.send(() => void this.server.write(unit.bytes, make), this.proxy.delayMs)
    } else {
      this.late = { answered: this.sent, make }
      if (cut.moment === 'after') this.pass('asking', unit.bytes)
      else this.strand(unit)
    }
  }

  private strand({ bytes }: Unit): void {
    this.isStranded = true
    this.client.resetAndDestroy()
    setTimeout(() => this.lines.asking.send(bytes, this.proxy.delayMs), LATE_MS)
  }

  private answer(chunk: Buffer): void {
    this.answers.read(chunk)
    // The client hears nothing of the answer.
    if (this.late === undefined) this.pass('answering', chunk)
    else if (this.answers.answered >= this.late.answered) this.late.make()
  }

  private pass(way: Way, parcel: Parcel): void {
    const queue = this.waiting[way]
    if (this.proxy.isSilent(way) || queue.length > 0) {
      queue.push(parcel)
      return
    }
    this.lines[way].send(parcel, this.proxy.delayMs)
  }

  /** Half closed is closed: neither side of this protocol has more to say. */
  private deliver(way: Way, parcel: Parcel): void {
    if (this.isOver) return
    if (typeof parcel === 'function') {
      parcel()
      return
    }
    const to = way === 'asking' ? this.server : this.client
    if (parcel !== 'end') {
      to.write(parcel)
      return
    }
    this.isOver = true
    to.end()
  }
}
