/** What is said where nothing was ever kept. Imports the workflow package. */
import { isOnServer, noStoreMessage } from '@reprise/workflow/internal'

/** For a list that is empty because there is no store: often the command was typed in another directory. */
export function noStoreLines(store: string): readonly [message: string, where: string] {
  return [noStoreMessage(store), whereRunsAre(isOnServer(store))]
}

export function whereRunsAre(isServer: boolean): string {
  return isServer
    ? 'The first run makes one; --store names another database, and ?schema=NAME in it another schema.'
    : 'Runs are kept in the directory where they were started; --store names another store.'
}
