/**
 * Events on Node's `diagnostics_channel`, for tools that listen without the program knowing of them.
 * Costs one check per event while nobody has subscribed, and nothing at all where there is no such module.
 * Imports types of core and the layer's own files.
 */
import type { Observer } from '../core/event.js'
import { builtinModule } from './builtin-module.js'

/** The name of the channel. Each message is a `RepriseEvent`. */
export const DIAGNOSTICS_CHANNEL = 'reprise:event'

interface Channel {
  readonly hasSubscribers: boolean
  publish(message: unknown): void
}

interface DiagnosticsChannelModule {
  channel(name: string): Channel
}

/**
 * Makes an observer that publishes every event on Node's `diagnostics_channel`, for tools that subscribe to it.
 * @example const api = createExecutor({ observers: [diagnostics()] })
 */
export function diagnostics(): Observer {
  const module = builtinModule('node:diagnostics_channel') as DiagnosticsChannelModule | undefined
  const channel = module?.channel(DIAGNOSTICS_CHANNEL)
  return {
    onEvent(event) {
      if (channel?.hasSubscribers === true) channel.publish(event)
    },
  }
}
