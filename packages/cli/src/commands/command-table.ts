/**
 * All commands, in the groups and the order of help: the one source of what the program accepts, of its help and of the
 * documentation. Every start loads it, so it holds words, and modules only behind `load`. Imports its own parts.
 */
import type { CommandGroup } from '../command.js'
import { FILE_COMMANDS } from './table/file-commands.js'
import { GATE_COMMANDS } from './table/gate-commands.js'
import { JOB_COMMANDS } from './table/job-commands.js'
import { LETTER_COMMANDS } from './table/letter-commands.js'
import { LOOK_COMMANDS } from './table/read-commands.js'
import { MAP_COMMANDS } from './table/map-commands.js'
import { POLICY_COMMANDS } from './table/policy-commands.js'
import { RUN_COMMANDS } from './table/run-commands.js'
import { SETUP_COMMANDS } from './table/setup-commands.js'
import { STEER_COMMANDS } from './table/steer-commands.js'
import { STORE_COMMANDS } from './table/store-commands.js'
import { TASK_COMMANDS } from './table/task-commands.js'

export const COMMAND_GROUPS: readonly CommandGroup[] = [
  { title: 'Begin', commands: FILE_COMMANDS },
  { title: 'Understand a policy', commands: POLICY_COMMANDS },
  { title: 'Run', commands: RUN_COMMANDS },
  { title: 'Look', commands: LOOK_COMMANDS },
  { title: 'Steer', commands: [...STEER_COMMANDS, ...MAP_COMMANDS] },
  { title: 'Jobs over datacenters', commands: JOB_COMMANDS },
  { title: 'Tasks of programs', commands: TASK_COMMANDS },
  { title: 'Dead letters', commands: LETTER_COMMANDS },
  { title: 'Shared gates', commands: GATE_COMMANDS },
  { title: 'Store', commands: STORE_COMMANDS },
  { title: 'Set up', commands: SETUP_COMMANDS },
]
