/** Bundles the programs of this directory as the ledger's benchmarks do theirs. */
import { fileURLToPath } from 'node:url'
import { bundleDirectory } from '../ledger/build.mjs'

const directory = fileURLToPath(new URL('.', import.meta.url))
export const OUT = fileURLToPath(new URL('../../node_modules/.cache/reprise-bench-map/', import.meta.url))

export const bundle = () => bundleDirectory(directory, OUT)
