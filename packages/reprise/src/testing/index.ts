/** The published test kit: re-exports only. Imports its own layer. */
export { seededRandom } from './seeded-random.js'
export { virtualClock, type VirtualClock } from './virtual-clock.js'
