/** A workflow of a job: what a datacenter runs. Types, and which parameters a datacenter gets. Pure. */
import type { Json } from 'reprise/durable'

/** What is executed: a document that the submitter embedded, or a function that workers registered. */
export type WorkflowSource =
  | {
      readonly kind: 'document'
      /** The document. */
      readonly text: string
      /** What messages call the document; null: it has no file. */
      readonly file: string | null
    }
  | {
      readonly kind: 'handler'
      /** The name of the function. */
      readonly handler: string
    }

export interface JobWorkflow {
  /** Unique within the job. */
  readonly name: string
  /** What is executed. */
  readonly source: WorkflowSource
  /** Parameters at every datacenter. */
  readonly params: Readonly<Record<string, Json>>
  /** By the name of a datacenter: these take the place of `params` of the same name. */
  readonly paramsByDatacenter: Readonly<Record<string, Readonly<Record<string, Json>>>>
  /** Names of workflows that must have succeeded at the same datacenter. Acyclic. */
  readonly needs: readonly string[]
}

/** The parameters of the workflow at a datacenter. */
export function paramsAt(workflow: JobWorkflow, datacenter: string): Readonly<Record<string, Json>> {
  return { ...workflow.params, ...workflow.paramsByDatacenter[datacenter] }
}
