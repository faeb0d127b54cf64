/**
 * `reprise simulate [FILE] [STEP]`: what a policy does in a storm, beside what others do. Imports input, simulation and
 * output.
 */
import { InputError } from '@reprise/workflow'
import {
  BUDGETS_KEY,
  isWorkflow,
  pickOnly,
  pickStep,
  readBudgetSection,
  readersFor,
  readPolicies,
  readTogether,
} from '@reprise/workflow/internal'
import { plainText } from 'reprise/internal'
import { wellKnown } from 'reprise/simulate'
import type { ParsedArguments } from '../command.js'
import type { CommandContext } from '../command-context.js'
import type { PolicyFlagTexts, ScenarioFlagTexts } from '../flag-table.js'
import { openSource } from '../input/open-source.js'
import { readPolicyFlags } from '../input/policy-flags.js'
import { readScenarioFlags, writtenScenario } from '../input/scenario-flags.js'
import { writeJson } from '../output/json.js'
import { lookFor } from '../output/look.js'
import { withProgress } from '../output/progress.js'
import { showSimulation } from '../output/simulation.js'
import { drawStorm } from '../output/svg.js'
import { writePicture } from '../output/write-file.js'
import { chooseCompared } from '../simulate/compared.js'
import { nextSteps } from '../simulate/next-steps.js'
import { pictured } from '../simulate/pictured.js'
import { runSimulation, type Simulation } from '../simulate/simulation.js'
import { type FilePolicy, limitsOf, underTest } from '../simulate/under-test.js'
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
  const { world, settings } = context
  if (flags.svg === '-' && settings.json) {
    throw new InputError([
      { message: '--svg - and --json both want stdout', suggestion: 'name a file for the picture' },
    ])
  }
  const [policyFlags, scenario] = readTogether(
    () => readPolicyFlags(flags),
    () => readScenarioFlags(flags),
  )
  const file = name === undefined ? undefined : await readFilePolicy(name, step, context)
  const under = underTest(file, policyFlags)
  const compared = chooseCompared(flags.compare, wellKnown(limitsOf(under.policy)), under.subject.name)
  const simulation = withProgress(world, settings.quiet, (say) =>
    runSimulation(scenario, under, compared, (subject, number, of) =>
      say(`simulating ${subject} (${number} of ${of}) …`),
    ),
  )
  const next = nextSteps(simulation, under, { ...flags, file: name })
  write(simulation, next, flags.svg, context)
}

async function readFilePolicy(name: string, step: string | undefined, context: CommandContext): Promise<FilePolicy> {
  const source = await openSource(name, context)
  const readers = await readersFor(source)
  const read = [() => readPolicies(source, readers), () => readBudgetSection(source)] as const
  // A workflow is checked whole, its budgets too: what is wrong with them is said once.
  const [policies, budgets] = isWorkflow(source) ? ([read[0](), read[1]()] as const) : readTogether(...read)
  const { file } = source
  const found = step === undefined ? pickOnly(policies, file) : pickStep(policies, step, file)
  const unread = policies.unread.filter((key) => key !== BUDGETS_KEY)
  return { title: found.step === null ? file : `${file} · step ${found.step}`, found, budgets, unread }
}

function write(simulation: Simulation, next: string, svg: string | undefined, context: CommandContext): void {
  const { world, settings } = context
  const picture = svg === undefined ? undefined : drawStorm(simulation)
  if (svg === '-' && picture !== undefined) {
    world.stdout.write(picture)
    return
  }
  // Before the text: where it cannot be written, nothing has been said yet.
  if (svg !== undefined && picture !== undefined) writePicture(svg, picture)
  const scenario = writtenScenario(simulation.scenario)
  if (settings.json) writeJson(world.stdout, { ...simulation, scenario })
  else writePage(world, showSimulation(simulation, next, lookFor(world, settings)))
  if (svg !== undefined && !settings.quiet) world.stderr.write(`${plainText(svg)} is written.${leftOut(simulation)}\n`)
}

function leftOut({ policies }: Simulation): string {
  const shown = pictured(policies).length
  return shown === policies.length ? '' : ` It shows ${shown} of the ${policies.length} policies.`
}
