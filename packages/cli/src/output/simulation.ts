/**
 * A simulation as a person reads it: the scenario, the table, the chart of the policy under test, what it comes to, and
 * what to type next. Imports the table, the chart, styles and data. Text from files is made plain before it is shown.
 */
import { scenarioWords, type Simulation } from '@reprise/workflow/internal'
import { plainText } from 'reprise/internal'
import { drawLoad } from './chart.js'
import type { Display } from './display.js'
import { stormTable } from './storm-table.js'
import { wrapText } from './wrap.js'

const MAX_TEXT = 2000
/** A number and its sign stay together. */
const SPACE = / (?!%)/

export function showSimulation(simulation: Simulation, next: string, display: Display): string {
  const { scenario, seed, policies, summary, verdict, notes } = simulation
  const { style, width } = display
  const [subject] = policies
  const table = stormTable(policies, display)
  if (display.quiet) return `${table.join('\n')}\n`

  const say = (lead: string, text: string): string[] => wrapText(`  ${lead}`, plainText(text, MAX_TEXT), width, SPACE)
  const named = subject.title.startsWith(subject.name) ? subject.title : `${subject.name}: ${subject.title}`
  const about = plainText(`${named} · ${summary} · seed ${seed}`, MAX_TEXT)
  const fault =
    scenario.fault === 'none'
      ? undefined
      : { name: scenario.fault, from: scenario.before / 1000, to: (scenario.before + scenario.during) / 1000 }
  const load = { ...subject.seconds, offered: scenario.load * scenario.capacity, fault }
  const lines = [
    ...wrapText('', scenarioWords(scenario), width, SPACE).map(style.bold),
    ...wrapText('  ', about, width, / (?=· )/),
    '',
    ...table,
    '',
    style.dim(`  ${subject.name}: the server's load over time, per second`),
    ...drawLoad(load, display),
    '',
    ...verdict.flatMap((sentence) => say('', sentence)),
    ...(notes.length > 0 ? [''] : []),
    ...notes.flatMap((note) => say(style.yellow('note: '), note)),
    '',
    ...say(style.cyan('next: '), next),
  ]
  return `${lines.join('\n')}\n`
}
