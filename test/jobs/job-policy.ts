/** Retries of workflows for tests, the same for every process that shares a store. Imports types only. */
import type { PolicyInput } from 'reprise'

/** Retries that do not wait. */
export const QUICK: PolicyInput = { attempts: 1000, initialDelay: '1ms', backoff: 'fixed', jitter: false }

/** A retry that waits longer than any test: a workflow that was charged is claimed by nobody. */
export const SLOW: PolicyInput = { ...QUICK, initialDelay: '1h', maxDelay: '1h' }
