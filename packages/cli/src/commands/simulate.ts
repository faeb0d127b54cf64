/**
 * `reprise simulate [FILE] [STEP]`: what a policy does in a storm, beside what others do. Imports input, simulation and
 * output.
 */
import { InputError } from '@reprise/workflow'
import {
  chooseCompared,
  limitsOf,
  readFilePolicy,
  readTogether,
  runSimulation,
  scenarioWithUnits,
  type Simulation,
  type UnderTest,
  underTest,
} from '@reprise/workflow/internal'
import { plainText } from 'reprise/internal'
import { wellKnown } from 'reprise/simulate'
import type { ParsedArguments } from '../command.js'
import type { CommandContext } from '../command-context.js'
import type { PolicyFlagTexts, ScenarioFlagTexts } from '../flag-table.js'
import { openSource } from '../input/open-source.js'
import { readPolicyFlags } from '../input/policy-flags.js'
import { flagWords, readScenarioFlags, refuseScenario, type ScenarioFlags } from '../input/scenario-flags.js'
import { writeJson } from '../output/json.js'
import { displayFor } from '../output/display.js'
import { withProgress } from '../output/progress.js'
import { showSimulation } from '../output/simulation.js'
import { drawStorm } from '../output/svg.js'
import { writePicture } from '../output/write-file.js'
import { nextSteps } from '../output/next-steps.js'
import { pictured } from '../output/pictured.js'
import { writePage } from '../output/github-commands.js'

type Flags = PolicyFlagTexts &
  ScenarioFlagTexts & {
    readonly budget?: string
    readonly compare?: string
    readonly svg?: string
  }

type Given = ParsedArguments<{ readonly file?: string; readonly step?: string }, Flags>

export async function run({ values, options: flags }: Given, context: CommandContext): Promise<void> {
  const { file: name, step } = values
  if (flags.svg === '-' && context.settings.json) {
    throw new InputError([
      { message: '--svg - and --json both want stdout', suggestion: 'name a file for the picture' },
    ])
  }
  const [policyFlags, scenario] = readTogether(
    () => readPolicyFlags(flags),
    () => readScenarioFlags(flags),
  )
  const file = name === undefined ? undefined : await readFilePolicy(await openSource(name, context), step)
  const under = underTest(file, { title: 'the policy of the flags', ...policyFlags }, flagWords)
  const simulation = simulated(under, scenario, flags.compare, context)
  const next = nextSteps(simulation, under, { ...flags, file: name })
  write(simulation, next, flags.svg, context)
}

function simulated(
  under: UnderTest,
  given: ScenarioFlags,
  compare: string | undefined,
  { io, settings }: CommandContext,
): Simulation {
  try {
    const compared = chooseCompared(compare, wellKnown(limitsOf(under.policy)), under.subject.name)
    return withProgress(io, settings.quiet, (say) =>
      runSimulation({ ...given, under, compared, words: flagWords }, (subject, number, of) =>
        say(`simulating ${subject} (${number} of ${of}) …`),
      ),
    )
  } catch (error) {
    return refuseScenario(error)
  }
}

function write(simulation: Simulation, next: string, svg: string | undefined, context: CommandContext): void {
  const { io, settings } = context
  const picture = svg === undefined ? undefined : drawStorm(simulation)
  if (svg === '-' && picture !== undefined) {
    io.stdout.write(picture)
    return
  }
  // Before the text: where it cannot be written, nothing has been said yet.
  if (svg !== undefined && picture !== undefined) writePicture(svg, picture)
  const scenario = scenarioWithUnits(simulation.scenario)
  if (settings.json) writeJson(io.stdout, { ...simulation, scenario })
  else writePage(io, showSimulation(simulation, next, displayFor(io, settings)))
  if (svg !== undefined && !settings.quiet) io.stderr.write(`${plainText(svg)} is written.${leftOut(simulation)}\n`)
}

function leftOut({ policies }: Simulation): string {
  const shown = pictured(policies).length
  return shown === policies.length ? '' : ` It shows ${shown} of the ${policies.length} policies.`
}
