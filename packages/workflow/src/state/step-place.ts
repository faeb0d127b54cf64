/**
 * Where in a run something is done: by one of its steps, or by a step that works on one item of a map. Names logs, notes
 * of processes, and the tags that tell the processes of one place from those of another. Imports nothing.
 */

export interface StepPlace {
  readonly run: string
  /** Absent for a step of the run itself. */
  readonly item?: ItemPlace
  /** The id of the step, or of its fallback. */
  readonly step: string
}

export interface ItemPlace {
  /** The id of the map in the run. */
  readonly map: string
  /** The id of the item's task, which is fit for a file name. */
  readonly id: string
}

/** Unique within the run: `fetch`, or `resize/0000017.orders-17/convert`. */
export function placeName({ item, step }: StepPlace): string {
  return item === undefined ? step : `${item.map}/${item.id}/${step}`
}
