/** Why a map was stopped, in words. Imports types. */
import type { HaltReason } from '../../view/map-views.js'

/** The rest of a sentence: `10 items failed, and max_failures is 10`. */
export function haltText(reason: HaltReason): string {
  switch (reason.kind) {
    case 'stop':
      return `item ${reason.item} failed, and \`on_item_failure\` is \`stop\``
    case 'max_failures':
      return `${reason.failed === 1 ? '1 item' : `${reason.failed} items`} failed, and \`max_failures\` is ${reason.limit}`
    case 'failure_threshold':
      return `${reason.failed} of ${reason.ended} ended items failed, and \`failure_threshold\` is ${reason.limit}`
    case 'halt_on':
      return reason.exitCode === null
        ? `item ${reason.item} failed with an error that stops the map`
        : `item ${reason.item} ended with exit code ${reason.exitCode}, which is in \`halt_on\``
    case 'cancelled':
      return 'the run was cancelled'
  }
}
