/** What `reprise init` can write. Imports the texts. */
import { JOB_TEMPLATE } from './job.js'
import { LIBRARY } from './library.js'
import { MAP_REDUCE } from './mapreduce.js'
import { SHELL } from './shell.js'

export interface Template {
  /** By name, in the order in which they are read. */
  readonly files: Readonly<Record<string, string>>
  /** What to type in their directory. */
  readonly next: readonly string[]
}

/** By the words of `--template`. */
export const TEMPLATES = {
  shell: SHELL,
  mapreduce: MAP_REDUCE,
  job: JOB_TEMPLATE,
  library: LIBRARY,
} as const satisfies Readonly<Record<string, Template>>

export type TemplateName = keyof typeof TEMPLATES
