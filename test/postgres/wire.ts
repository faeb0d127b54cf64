/**
 * What a PostgreSQL client says, read message by message: enough to know which of them commits. Imports Node's types.
 *
 * Messages that are answered together are one unit: a simple query, or those of the extended protocol up to Sync. A
 * client may send several before it has an answer: whether a transaction is open then follows from what it said.
 */

/** As in ReadyForQuery: idle, in a transaction, in one that failed. */
export type TransactionStatus = 'I' | 'T' | 'E'

export interface Unit {
  readonly bytes: Buffer
  /** The statements that it runs. */
  readonly texts: readonly string[]
  /** Whether the server says when it is through with it. */
  readonly isAnswered: boolean
}

const SSL_REQUEST = 80_877_103
const GSS_REQUEST = 80_877_104
const HEADER = 5

/** Ends of units: Query, Sync, Flush, Terminate, and what the client answers while it logs in. */
const ENDS = new Set(['Q', 'S', 'H', 'X', 'p', 'd', 'c', 'f', 'F'])

const textAt = (bytes: Buffer, from: number): string => bytes.toString('utf8', from, bytes.indexOf(0, from))

/** Cuts a stream of client messages into units. */
export class ClientStream {
  private rest: Buffer = Buffer.alloc(0)
  private unit: Buffer[] = []
  private texts: string[] = []
  private isStarted = false
  private readonly prepared = new Map<string, string>()
  /** Asked for encryption, which there is not: to be answered with no. */
  private readonly refuseEncryption: () => void

  constructor(refuseEncryption: () => void) {
    this.refuseEncryption = refuseEncryption
  }

  read(chunk: Buffer): Unit[] {
    this.rest = Buffer.concat([this.rest, chunk])
    const units: Unit[] = []
    for (let message = this.next(); message !== undefined; message = this.next()) {
      if (!this.isStarted) {
        const code = message.readInt32BE(4)
        if (code === SSL_REQUEST || code === GSS_REQUEST) {
          this.refuseEncryption()
          continue
        }
        this.isStarted = true
        units.push({ bytes: message, texts: [], isAnswered: true })
        continue
      }
      this.unit.push(message)
      const type = String.fromCharCode(message[0] ?? 0)
      this.note(type, message)
      if (ENDS.has(type)) units.push(this.take(type === 'Q' || type === 'S'))
    }
    return units
  }

  /** The first message has no type. */
  private next(): Buffer | undefined {
    const head = this.isStarted ? HEADER : HEADER - 1
    if (this.rest.length < head) return undefined
    const length = this.rest.readInt32BE(head - 4) + head - 4
    if (this.rest.length < length) return undefined
    const message = this.rest.subarray(0, length)
    this.rest = this.rest.subarray(length)
    return message
  }

  private note(type: string, message: Buffer): void {
    if (type === 'Q') this.texts.push(textAt(message, HEADER))
    if (type === 'P') {
      const name = textAt(message, HEADER)
      this.prepared.set(name, textAt(message, HEADER + Buffer.byteLength(name) + 1))
    }
    if (type === 'B') {
      const portal = textAt(message, HEADER)
      const name = textAt(message, HEADER + Buffer.byteLength(portal) + 1)
      this.texts.push(this.prepared.get(name) ?? '')
    }
  }

  private take(isAnswered: boolean): Unit {
    const unit = { bytes: Buffer.concat(this.unit), texts: this.texts, isAnswered }
    this.unit = []
    this.texts = []
    return unit
  }
}

/** Follows what the server says, for the state of the transaction. */
export class ServerStream {
  status: TransactionStatus = 'I'
  /** How many units it has answered, the start among them. */
  answered = 0
  private rest: Buffer = Buffer.alloc(0)

  read(chunk: Buffer): void {
    this.rest = Buffer.concat([this.rest, chunk])
    while (this.rest.length >= HEADER) {
      const length = this.rest.readInt32BE(1) + 1
      if (this.rest.length < length) return
      if (this.rest[0] === 'Z'.charCodeAt(0)) {
        this.status = String.fromCharCode(this.rest[HEADER] ?? 0) as TransactionStatus
        this.answered++
      }
      this.rest = this.rest.subarray(length)
    }
  }
}

const BEGIN = /(^|;)\s*(BEGIN|START\s+TRANSACTION)\b/i
const COMMIT = /(^|;)\s*(COMMIT|END)\b/i
const UNDO = /(^|;)\s*(ROLLBACK(?!\s+TO)|ABORT)\b/i
/** Outside of a transaction every statement that writes is one of its own. */
const WRITE = /\b(INSERT\s+INTO|UPDATE|DELETE\s+FROM|MERGE\s+INTO|TRUNCATE|CREATE|ALTER|DROP)\b/i

/** Whether this unit makes something durable, if it succeeds. */
export function doesCommit({ texts }: Pick<Unit, 'texts'>, status: TransactionStatus): boolean {
  if (status === 'E') return false
  if (texts.some((text) => COMMIT.test(text))) return true
  return status === 'I' && texts.some((text) => WRITE.test(text) && !BEGIN.test(text))
}

/** What it leaves behind, if it succeeds. */
export function statusAfter({ texts }: Pick<Unit, 'texts'>, status: TransactionStatus): TransactionStatus {
  if (texts.some((text) => COMMIT.test(text) || UNDO.test(text))) return 'I'
  return texts.some((text) => BEGIN.test(text)) ? 'T' : status
}
