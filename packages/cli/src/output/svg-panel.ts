/**
 * One policy in the picture of a storm: its name and figures, and its load over time on axes that all panels share.
 * Imports scales, numbers and XML.
 */
import { factor, meanOf, plainNumber, resample, type SimulatedPolicy, timeTicks } from '@reprise/workflow/internal'
import { formatDuration } from 'reprise'
import { digits, tag, xmlText } from './xml.js'

/** What all panels have in common. */
export interface Axes {
  readonly width: number
  readonly height: number
  readonly seconds: number
  /** The highest rate that is drawn, per second. */
  readonly top: number
  /** Calls per second. */
  readonly offered: number
  readonly fault: { readonly name: string; readonly from: number; readonly to: number } | undefined
}

/** Where a panel stands among the others. */
export interface PanelPlace {
  readonly isLeft: boolean
  readonly isBottom: boolean
  /** Whether its lines are named beside them: those of attempts and calls, and that of useful answers. */
  readonly namesLoad: boolean
  readonly namesUseful: boolean
}

/** Above the plot: name and figures. */
export const PANEL_HEAD = 40
/** More points than this cannot be told apart. */
const MAX_POINTS = 360
const MAX_NAME = 30
/** How wide a letter may be. */
const LETTER = 7
/** The end of the time, over which the height of a line is averaged. */
const LAST_SHARE = 0.3
/** How much of the time the name of a line is as wide as. */
const NAME_SHARE = 0.25

export function drawPanel(policy: SimulatedPolicy, axes: Axes, place: PanelPlace): string {
  return [
    ...heading(policy, axes),
    tag('g', { transform: `translate(0 ${PANEL_HEAD})` }, [
      ...span(axes),
      ...grid(axes, place),
      ...lines(policy, axes),
      ...(place.namesLoad ? loadNames(policy, axes) : []),
      ...(place.namesUseful ? usefulName(policy, axes) : []),
    ]),
  ].join('\n')
}

/** How high a line is at the end, per second. */
export function heightAtEnd(values: readonly number[]): number {
  return meanOf(values.slice(-Math.ceil(values.length * LAST_SHARE)))
}

function heading({ name, title, isSubject, amplification, recoveryMs }: SimulatedPolicy, axes: Axes): string[] {
  const shown = isSubject && title !== name && !title.startsWith(name) ? `${name}: ${title}` : name
  const load = `peak ${factor(amplification.worst)}×, mean ${factor(amplification.mean)}×`
  const back = recoveryMs === 0 ? 'back at once' : `back after ${formatDuration(recoveryMs ?? 0)}`
  const end = recoveryMs === null ? tag('tspan', { class: 'bad strong' }, 'never recovers') : xmlText(back)
  const frame = tag('rect', {
    class: 'frame',
    x: -7,
    y: -3,
    width: axes.width + 14,
    height: PANEL_HEAD + axes.height + 9,
    rx: 4,
  })
  const mark = isSubject ? '▸ ' : ''
  return [
    isSubject ? frame : '',
    tag('text', { class: 'ink name', x: 0, y: 13 }, xmlText(mark + shown, MAX_NAME)),
    tag('text', { class: 'soft', x: 0, y: 29 }, `${xmlText(load)} · ${axes.fault === undefined ? 'no fault' : end}`),
  ]
}

function span({ fault, height, width, seconds }: Axes): string[] {
  if (fault === undefined) return []
  const [x, end] = [(fault.from / seconds) * width, (fault.to / seconds) * width]
  const name = tag('text', { class: 'soft middle', x: (x + end) / 2, y: 13 }, xmlText(fault.name))
  const hasSpace = end - x > fault.name.length * LETTER
  return [tag('rect', { class: 'span', x, y: 0, width: Math.max(1, end - x), height }), hasSpace ? name : '']
}

function grid({ width, height, seconds, top }: Axes, { isLeft, isBottom }: PanelPlace): string[] {
  const levels = [0.5, 1].map((share) => {
    const y = height * (1 - share)
    const label = tag('text', { class: 'soft end', x: -13, y: y + 4 }, `${plainNumber(share * top)}/s`)
    return tag('path', { class: 'grid', d: `M0 ${digits(y)}H${digits(width)}` }) + (isLeft ? label : '')
  })
  const ticks = timeTicks(seconds, 5).map((second) => {
    const x = (second / seconds) * width
    const text = second === 0 ? '0s' : formatDuration(second * 1000)
    const label = tag('text', { class: 'soft middle', x, y: height + 16 }, xmlText(text))
    return tag('path', { class: 'axis', d: `M${digits(x)} ${digits(height)}v4` }) + (isBottom ? label : '')
  })
  const zero = isLeft ? tag('text', { class: 'soft end', x: -13, y: height + 4 }, '0') : ''
  return [...levels, ...ticks, zero, tag('path', { class: 'axis', d: `M0 ${digits(height)}H${digits(width)}` })]
}

function lines({ seconds: { attempts, useful, calls } }: SimulatedPolicy, axes: Axes): string[] {
  const area = points(useful, axes)
  const { width, height } = axes
  return [
    tag('path', { class: 'useful', d: `M0 ${digits(height)}L${area}L${digits(width)} ${digits(height)}Z` }),
    tag('path', { class: 'offered', d: `M${points(calls, axes)}` }),
    tag('path', { class: 'attempts', d: `M${points(attempts, axes)}` }),
  ]
}

function points(values: readonly number[], { width, height, top }: Axes): string {
  const shown = values.length > MAX_POINTS ? resample(values, MAX_POINTS) : values
  const last = Math.max(1, shown.length - 1)
  return shown
    .map((value, index) => `${digits((index / last) * width)} ${digits(height * (1 - value / top))}`)
    .join('L')
}

function loadNames({ seconds }: SimulatedPolicy, { width, height, top, offered }: Axes): string[] {
  const above = (rate: number): number => Math.max(10, height * (1 - rate / top) - 6)
  // Above the highest point that the name stands over.
  const highest = Math.max(...seconds.attempts.slice(-Math.ceil(seconds.attempts.length * NAME_SHARE)))
  return [
    tag('text', { class: 'attempts-ink end strong', x: width - 4, y: above(highest) }, 'attempts'),
    tag('text', { class: 'ink end', x: width - 4, y: above(offered) }, 'calls offered'),
  ]
}

function usefulName({ seconds }: SimulatedPolicy, { width, height, top }: Axes): string[] {
  const y = height * (1 - heightAtEnd(seconds.useful) / top / 2) + 4
  return [tag('text', { class: 'useful-ink end strong', x: width - 6, y }, 'useful answers')]
}
