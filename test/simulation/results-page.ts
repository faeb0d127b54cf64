/**
 * The figures of `npm run storm` as a page: of each kind of finding the worst, since a goal has to hold in all.
 * Imports the goals' types.
 */
import { type Finding, holds } from './goals.js'

export interface Extent {
  readonly seed: number
  readonly runs: number
  readonly seeds: number
}

export function resultsPage(findings: readonly Finding[], { seed, runs, seeds }: Extent): string {
  const kinds = new Map<string, Finding[]>()
  for (const finding of findings) {
    const kind = [finding.goal, finding.subject, finding.what.replace(/.*: /, ''), sideOf(finding)].join('|')
    kinds.set(kind, [...(kinds.get(kind) ?? []), finding])
  }
  const rows = [...kinds.values()].map(rowOf)
  const missed = findings.filter((finding) => !holds(finding))
  return [
    '# Storm goals, as measured',
    '',
    `\`npm run storm -- --seed ${seed} --runs ${runs} --seeds ${seeds}\`. \`recommended\` has an attempt timeout of 1 s, as`,
    'the policies it is compared with; `preset` is exactly `recommended()`. Of each kind the figure nearest to its limit.',
    '',
    '| goal | policy | what | nearest | limit | where | holds |',
    '|---|---|---|---|---|---|---|',
    ...rows,
    '',
    `${findings.length} findings, ${missed.length} missed.`,
    '',
  ].join('\n')
}

function rowOf(findings: readonly Finding[]): string {
  const [nearest] = findings.toSorted((a, b) => roomOf(a) - roomOf(b)) as [Finding]
  const { goal, subject, what, figure, limit } = nearest
  const [where = '', kind = where] = what.split(': ')
  const bound = 'most' in limit ? `≤ ${rounded(limit.most)}` : `≥ ${rounded(limit.least)}`
  const good = findings.filter(holds).length
  return `| ${goal} | ${subject} | ${kind} | ${rounded(figure)} | ${bound} | ${where} | ${good} of ${findings.length} |`
}

/** How far the figure is from its limit; below 0 if it is beyond. */
function roomOf({ figure, limit }: Finding): number {
  return 'most' in limit ? limit.most - figure : figure - limit.least
}

function sideOf({ limit }: Finding): string {
  return 'most' in limit ? 'most' : 'least'
}

function rounded(figure: number): string {
  return String(Number(figure.toFixed(5)))
}
