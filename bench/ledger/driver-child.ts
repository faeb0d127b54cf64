/** `driver-child.js FILE`: a program with one commit, by the driver alone. Imports the choice of driver. */
import { openChosenDatabase } from '../../test/chosen-driver.js'

const [file = ''] = process.argv.slice(2)
const database = await openChosenDatabase(file)
database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE IF NOT EXISTS step (i)')
database.prepare('INSERT INTO step VALUES (1)').run()
process.exit(0)
