/** What a command is given beside its own arguments. Imports types only. */
import type { Settings } from './settings.js'
import type { ProcessIo } from './process-io.js'

export interface CommandContext {
  readonly io: ProcessIo
  readonly settings: Settings
}
