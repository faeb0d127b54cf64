/** `driver-child.js URL`: a program with one commit, by the driver alone. Imports pg. */
import pg from 'pg'

const [url = ''] = process.argv.slice(2)
const client = new pg.Client(url)
await client.connect()
await client.query('CREATE TABLE IF NOT EXISTS step (i int)')
await client.query('INSERT INTO step VALUES (1)')
process.exit(0)
