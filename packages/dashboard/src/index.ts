/**
 * `@reprise/dashboard`: the HTTP API of jobs for programs. Re-exports only: functions, and the types of what they are given
 * and return.
 */
export { type Gate, type GateOptions, openGate } from './open-gate.js'
