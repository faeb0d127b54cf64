/**
 * `reprise simulate [FILE] [STEP]`: what a policy does in a storm, beside what others do. Imports input, simulation and
 * output.
 */
import {
  BUDGETS_KEY,
  InputError,
  isWorkflow,
  pickOnly,
  pickStep,
  readBudgetSection,
  readPolicies,
  readTogether,
} from '@reprise/workflow'
import type { Command } from 'commander'
import { plainText } from 'reprise/observe'
import { wellKnown } from 'reprise/simulate'
import type { CommandContext } from '../command-context.js'
import { openSource } from '../input/open-source.js'
import { READERS } from '../input/readers.js'
import { POLICY_FLAGS, type PolicyFlagTexts, readPolicyFlags } from '../input/policy-flags.js'
import { readScenarioFlags, SCENARIO_FLAGS, type ScenarioFlagTexts } from '../input/scenario-flags.js'
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

const EXAMPLES = `Examples:
  reprise simulate                            the recommended policy while a server hangs for 30s
  reprise simulate policy.yaml                your policy; its budget stands in the same file, under \`budgets:\`
  reprise simulate workflow.yaml fetch        one step of a workflow
  reprise simulate --attempts 5 --backoff exponential --attempt-timeout 1s --budget adaptive
  reprise simulate policy.yaml --fault capacity --amount 0.5 --outage 60s --compare all
  reprise simulate policy.yaml --svg storm.svg
  reprise simulate policy.yaml --json | jq '.policies[] | [.name, .amplification.worst, .recoveryMs]'
`

const MORE_HELP = `
The policy is that of the file, with the flags over it; or that of the flags; or
the recommended one, with --attempt-timeout and --timeout if they are given.
Those it is compared with wait as long for an answer as it does.

The table:
  load     attempts over calls while the fault goes on: worst second, mean
  back     after the end of the fault, until calls succeed again as before it
  success  of all calls, and of those in the minute after the fault
  goodput  successes in the fault, of the most that could be
  wasted   retries that did not help

--json prints { scenario, seed, summary, policies, verdict, notes }; a policy is
{ name, title, isSubject, calls, attempts, amplification: { worst, mean },
recoveryMs, success: { total, during, after }, goodput, wasted, extra,
latencyMs: { p50, p99 }, seconds: { calls, attempts, useful } }. Shares are of 1;
a recoveryMs of null is never, a goodput of null that nothing could succeed.`

interface Flags extends PolicyFlagTexts, ScenarioFlagTexts {
  readonly compare?: string
  readonly svg?: string
}

export function addSimulate(program: Command, context: () => CommandContext): void {
  const command = program
    .command('simulate')
    .description('show what a policy does in a storm: load, recovery and success, beside well-known policies')
    .argument('[file]', 'YAML or JSON file with a policy or a workflow; - is stdin')
    .argument('[step]', 'id, name or position of a step of a workflow')
    .addHelpText('before', EXAMPLES)
    .addHelpText('after', MORE_HELP)
    .action((file: string | undefined, step: string | undefined, flags: Flags) =>
      simulateStorm(file, step, flags, context()),
    )
  command.optionsGroup('Policy:')
  for (const [flag, text] of POLICY_FLAGS) command.option(flag, text)
  command.optionsGroup('Scenario:')
  for (const [flag, text] of SCENARIO_FLAGS) command.option(flag, text)
  command
    .optionsGroup('Options:')
    .option('--compare <names>', 'well-known policies, separated by commas; all, or none (default: a handful)')
    .option('--svg <file>', 'draw a picture for documents; - writes it to stdout instead of the text')
}

async function simulateStorm(
  name: string | undefined,
  step: string | undefined,
  flags: Flags,
  context: CommandContext,
): Promise<void> {
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
  const read = [() => readPolicies(source, READERS), () => readBudgetSection(source)] as const
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
  if (settings.json) writeJson(world.stdout, simulation)
  else world.stdout.write(showSimulation(simulation, next, lookFor(world, settings)))
  if (svg !== undefined && !settings.quiet) world.stderr.write(`${plainText(svg)} is written.${leftOut(simulation)}\n`)
}

function leftOut({ policies }: Simulation): string {
  const shown = pictured(policies).length
  return shown === policies.length ? '' : ` It shows ${shown} of the ${policies.length} policies.`
}
