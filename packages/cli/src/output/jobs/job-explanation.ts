/** `reprise explain` of a job: what runs where, its limits, and how it ends. Imports tables, words and types. */
import type { JobExplanation } from '@reprise/jobs/internal'
import { plural } from '@reprise/workflow/internal'
import { plainText } from 'reprise/internal'
import { fitTable } from '../fitted-table.js'
import type { Display } from '../display.js'
import { wrapText } from '../wrap.js'

export function showJobExplanation(explanation: JobExplanation, file: string, display: Display): string {
  const { workflows, datacenters, firstAttempts, mostAttempts, sentences, clamps } = explanation
  const { style, width } = display
  const say = (lead: string, text: string): string[] => wrapText(`  ${lead}`, plainText(text), width)
  const where = `${plural(workflows.length, 'workflow')} at ${plural(datacenters.length, 'datacenter')}`
  const table = fitTable(
    [
      { title: 'workflow', cell: ({ name }) => plainText(name), paint: () => style.bold, least: 8 },
      { title: 'runs', cell: ({ runs }) => plainText(runs), least: 10 },
      { title: 'needs', cell: ({ needs }) => plainText(needs.join(', ')), least: 8, expendable: 1 },
    ],
    workflows,
    display,
  )
  const most = mostAttempts === null ? '' : `, and at most ${plural(mostAttempts, 'attempt')}`
  const lines = [
    ...wrapText('', `${style.bold(plainText(file))} ${where}: ${plainText(datacenters.join(', '))}`, width),
    '',
    ...table,
    '',
    ...say('', `${plural(firstAttempts, 'first attempt')}, which cost no retry${most}.`),
    ...sentences.flatMap((sentence) => say('', sentence)),
    ...(clamps.length === 0 ? [] : ['']),
    ...clamps.flatMap(({ sentence }) => say(style.yellow('changed: '), sentence)),
  ]
  return `${lines.join('\n')}\n`
}
