/** The published test kit: re-exports only. Imports its own layer. */
export { seededRandom } from '../core/seeded-random.js'
export { virtualClock, type VirtualClock } from './virtual-clock.js'
