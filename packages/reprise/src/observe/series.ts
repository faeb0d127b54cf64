/**
 * Counters, gauges and histograms under one common bound.
 *
 * A series is what a Prometheus server would store as one: a histogram is one per bucket and two for sum and count.
 * Invariants: the series of all families together never outnumber `maxSeries`; what has no room is counted under the
 * name `other`, for which room is reserved, so totals stay exact. Nothing is ever removed, so a name that once had no
 * room never gets any. Imports nothing of Node.
 */
import { nameLabel, OTHER } from './label.js'

/** The room that all families share. */
export class Room {
  private left: number

  constructor(series: number) {
    this.left = series
  }

  take(series: number): boolean {
    if (this.left < series) return false
    this.left -= series
    return true
  }
}

interface Series<V> {
  readonly labels: Readonly<Record<string, string>>
  readonly value: V
}

/** A counter or a gauge. */
export class Cell {
  value = 0
}

export interface FamilyShape {
  /** The label that people name; its values are not known beforehand. */
  readonly open: string
  /** Labels whose values are words of closed sets; at most two. */
  readonly words: readonly string[]
  /** How many series one combination of labels takes. */
  readonly seriesEach: number
}

export class Family<V> {
  private readonly series = new Map<string, Series<V>>()
  private readonly shape: FamilyShape
  private readonly room: Room
  private readonly create: () => V

  constructor(shape: FamilyShape, room: Room, create: () => V) {
    this.shape = shape
    this.room = room
    this.create = create
  }

  /** The value to update; names without room share that of `other`. `first` and `second` are words of closed sets. */
  at(name: string, first = '', second = ''): V {
    const known = typeof name === 'string' ? this.find(name, first, second) : undefined
    return known ?? this.add(nameLabel(name), first, second)
  }

  /** Whether `name`, already counted, has no series of its own. */
  isShared(name: string): boolean {
    const label = nameLabel(name)
    return label === OTHER || this.find(label, '', '') === undefined
  }

  read(): readonly Series<V>[] {
    return [...this.series.values()]
  }

  private find(name: string, first: string, second: string): V | undefined {
    return this.series.get(`${first}|${second}|${name}`)?.value
  }

  private add(name: string, first: string, second: string): V {
    const known = this.find(name, first, second)
    if (known !== undefined) return known
    if (name !== OTHER && !this.room.take(this.shape.seriesEach)) return this.at(OTHER, first, second)
    const labels: Record<string, string> = { [this.shape.open]: name }
    for (const [index, label] of this.shape.words.entries()) labels[label] = index === 0 ? first : second
    const value = this.create()
    this.series.set(`${first}|${second}|${name}`, { labels, value })
    return value
  }
}
