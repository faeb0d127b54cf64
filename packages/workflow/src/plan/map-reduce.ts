/**
 * `mode: mapreduce` as the list of steps that it is short for, so that a plan and its fingerprint do not depend on the
 * spelling. Pure. Imports types only.
 */
import type { Json } from 'reprise/durable'
import type { MapReduceData } from './document-data.js'

/** What the map of such a document is called. */
export const MAP_ID = 'map'

/** Takes a checked document in its canonical spelling; any other document is given back as it is. */
export function withSteps(document: Json): Json {
  if ((document as unknown as Partial<MapReduceData>).mode !== 'mapreduce') return document
  const {
    mode: _,
    setup = [],
    map,
    reduce = [],
    merge = [],
    error_policy: errors,
    ...others
  } = document as unknown as MapReduceData
  const own = { id: MAP_ID, map: errors === undefined ? map : { ...map, error_policy: errors } }
  return { ...others, steps: [...setup, own, ...reduce, ...merge] } as unknown as Json
}
