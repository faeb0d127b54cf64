/** The name of the error of an item whose work conflicts with what was merged before it, as it is recorded. Imports nothing. */
export const MERGE_CONFLICT = 'MergeConflictError'
