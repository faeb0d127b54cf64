/**
 * `@reprise/jobs`: jobs over datacenters for programs. Re-exports only: functions, and the types of what they are given
 * and return.
 */
export type { JobResult } from './rules/job-result.js'
