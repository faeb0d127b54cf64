/** How large inputs and items may be, and how the errors say so. Imports the errors of inputs. */
import { InputDataError } from './input-data-error.js'

/** Of one item, as JSON. */
export const MAX_ITEM_BYTES = 1024 ** 2
/** Of the text that one item is read from: white space and escapes make it longer than its JSON. */
export const MAX_ITEM_TEXT = 4 * 1024 ** 2
/** Of a document that is read whole, and of items that are sorted. */
export const MAX_WHOLE_BYTES = 256 * 1024 ** 2

export function itemTooLarge(place: string): InputDataError {
  return new InputDataError(
    place,
    'the item is larger than 1 MiB as JSON',
    'keep its data in a file, and make the item the path of that file',
  )
}
