/**
 * `reprise/slim`: `retry` as one loop, for bundles in which every kilobyte counts. Re-exports only. Classes of errors are
 * exported by `reprise` alone; `error.code` tells them apart. Imports the files beside it.
 */
export { retry, type SlimContext, type SlimOptions } from './retry.js'
export type { SlimPolicyInput } from './slim-policy.js'
