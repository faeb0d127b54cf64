/**
 * A storm as a picture for documents: a panel for each policy, on the same axes. Self-contained: no script, no font, no
 * address of anything. Imports panels, scales, styles and XML.
 */
import { roundUp, scenarioWords, type SimulatedPolicy, type Simulation } from '@reprise/workflow/internal'
import { pictured } from './pictured.js'
import { type Axes, drawPanel, heightAtEnd, PANEL_HEAD, type PanelPlace } from './svg-panel.js'
import { STYLE } from './svg-style.js'
import { digits, tag, xmlText } from './xml.js'

const WIDTH = 960
const MARGIN = 24
/** For the numbers of the axis. */
const LEFT = 74
const GAP = 30
const TOP = 96
const PLOT_HEIGHT = 150
/** Between rows of panels; under the last stand the times. */
const ROW_GAP = 22
const BOTTOM = 48
/** The area of useful answers takes a name inside from this height on. */
const NAME_HEIGHT = 14

export function drawStorm(simulation: Simulation): string {
  const { scenario, seed } = simulation
  const policies = pictured(simulation.policies)
  const columns = columnsFor(policies.length)
  const rows = Math.ceil(policies.length / columns)
  const axes = axesFor(simulation, policies, columns)
  const rowHeight = PANEL_HEAD + PLOT_HEIGHT + ROW_GAP
  const height = TOP + rows * rowHeight - ROW_GAP + BOTTOM
  const named = namedPanels(policies, axes)
  const panels = policies.map((policy, index) => {
    const [column, row] = [index % columns, Math.floor(index / columns)]
    const place: PanelPlace = {
      isLeft: column === 0,
      isBottom: index + columns >= policies.length,
      namesLoad: policy === named.load,
      namesUseful: policy === named.useful,
    }
    const at = `translate(${LEFT + column * (axes.width + GAP)} ${TOP + row * rowHeight})`
    return tag('g', { transform: at }, drawPanel(policy, axes, place))
  })
  const words = scenarioWords(scenario)
  const parts = [
    tag('title', {}, xmlText(`Retry policies in a storm: ${words}`)),
    tag('desc', {}, xmlText(simulation.verdict.join(' '), 1000)),
    tag('style', {}, STYLE),
    tag('rect', { class: 'ground', x: 0.5, y: 0.5, width: WIDTH - 1, height: height - 1, rx: 6 }),
    tag('text', { class: 'ink title', x: MARGIN, y: 34, style: `font-size:${titleSize(words)}px` }, xmlText(words)),
    ...legend(axes),
    ...panels,
    tag('text', { class: 'soft', x: MARGIN, y: height - 12 }, 'answers, calls and attempts per second, over time'),
    tag('text', { class: 'soft end', x: WIDTH - MARGIN, y: height - 12 }, `reprise simulate, seed ${seed}`),
  ]
  const size = { width: WIDTH, height, viewBox: `0 0 ${WIDTH} ${height}`, role: 'img' }
  return `${tag('svg', { xmlns: 'http://www.w3.org/2000/svg', ...size }, ['', ...parts])}\n`
}

/** As large as the line has space for, whatever font there is. */
function titleSize(text: string): string {
  return digits(Math.min(17, (WIDTH - 2 * MARGIN) / (0.62 * text.length)))
}

function columnsFor(count: number): number {
  return count === 4 ? 2 : Math.min(count, 3)
}

function axesFor(
  { scenario, policies: [subject] }: Simulation,
  policies: readonly SimulatedPolicy[],
  columns: number,
): Axes {
  const { fault, before, during, load, capacity } = scenario
  const rates = policies.flatMap(({ seconds }) => [...seconds.attempts, ...seconds.useful, ...seconds.calls])
  return {
    width: (WIDTH - LEFT - MARGIN - (columns - 1) * GAP) / columns,
    height: PLOT_HEIGHT,
    seconds: subject.seconds.calls.length,
    top: roundUp(rates.reduce((most, rate) => Math.max(most, rate), 0)),
    offered: load * capacity,
    fault: fault === 'none' ? undefined : { name: fault, from: before / 1000, to: (before + during) / 1000 },
  }
}

interface Named {
  readonly load: SimulatedPolicy | undefined
  readonly useful: SimulatedPolicy | undefined
}

/** Where there is space between the lines for their names. The legend has them in any case. */
function namedPanels(policies: readonly SimulatedPolicy[], { offered, top, height }: Axes): Named {
  const pixels = (rate: number): number => (rate / top) * height
  const isApart = ({ seconds }: SimulatedPolicy): boolean => pixels(heightAtEnd(seconds.attempts) - offered) > 30
  const isHigh = ({ seconds }: SimulatedPolicy): boolean => pixels(heightAtEnd(seconds.useful)) >= NAME_HEIGHT
  return { load: policies.find(isApart), useful: policies.find(isHigh) }
}

function legend({ fault }: Axes): string[] {
  const y = 62
  const entry = (x: number, sample: string, text: string): string =>
    tag('g', { transform: `translate(${x} ${y})` }, [sample, tag('text', { class: 'ink', x: 32, y: 4 }, xmlText(text))])
  const line = (name: string): string => tag('path', { class: name, d: 'M0 0H26' })
  return [
    entry(MARGIN, line('attempts'), 'attempts: the load of the server'),
    entry(MARGIN + 230, line('offered'), 'calls offered'),
    entry(MARGIN + 350, tag('rect', { class: 'useful', x: 0, y: -6, width: 26, height: 12 }), 'useful answers'),
    ...(fault === undefined
      ? []
      : [
          entry(
            MARGIN + 480,
            tag('rect', { class: 'span', x: 0, y: -6, width: 26, height: 12 }),
            `the fault: ${fault.name}`,
          ),
        ]),
  ]
}
