/**
 * Where the value of a secret stands in what a run keeps: the document, its parameters, names and places. Kept as it is it
 * would be no secret; masked, a resume would not know it any more. So whoever begins a run refuses it. Imports the masker.
 */
import type { Json } from 'reprise/durable'
import { Masker } from './masker.js'

export interface SecretPlace {
  /** The name of the secret. */
  readonly secret: string
  /** `steps[0].shell`, behind the name of what was looked through. */
  readonly place: string
}

/** The first place of each secret. `kept`: by name, what is looked through. */
export function secretPlaces(
  secrets: Readonly<Record<string, string>>,
  kept: Readonly<Record<string, Json>>,
): SecretPlace[] {
  return Object.entries(secrets).flatMap(([secret, value]) => {
    const masker = new Masker({ [secret]: value })
    const place = masker.isEmpty ? undefined : firstIn(masker, kept)
    return place === undefined ? [] : [{ secret, place }]
  })
}

function firstIn(masker: Masker, kept: Readonly<Record<string, Json>>): string | undefined {
  for (const [name, json] of Object.entries(kept)) {
    const place = placeIn(masker, json, name)
    if (place !== undefined) return place
  }
  return undefined
}

function placeIn(masker: Masker, json: Json, place: string): string | undefined {
  if (typeof json !== 'object' || json === null) return masker.maskJson(json) === json ? undefined : place
  for (const [key, item] of Object.entries(json)) {
    // A key that is secret is not shown.
    if (masker.maskText(key) !== key) return `${place}, in the name of a field`
    const found = placeIn(masker, item, Array.isArray(json) ? `${place}[${key}]` : `${place}.${key}`)
    if (found !== undefined) return found
  }
  return undefined
}
