/** What a command is given beside its own arguments. Imports types only. */
import type { Settings } from './settings.js'
import type { World } from './world.js'

export interface CommandContext {
  readonly world: World
  readonly settings: Settings
}
