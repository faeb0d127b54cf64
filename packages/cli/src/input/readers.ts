/** How the command line reads the texts of a workflow. Imports the readers. */
import { BLIND_READERS, type Readers } from '@reprise/workflow'

export const READERS: Readers = BLIND_READERS
