/**
 * A process that starts a server and says where it is, as a line of JSON; then it waits to be ended. `starter.ts shared`
 * asks for a database on the shared server instead. Made to be killed. Imports the servers.
 */
import { PostgresServer } from './server.js'
import { testDatabase } from './shared-server.js'

if (process.argv[2] === 'shared') {
  console.log(JSON.stringify({ url: (await testDatabase()).url }))
} else {
  const { url, pid, directory } = await PostgresServer.start()
  console.log(JSON.stringify({ url, pid, directory, uid: process.getuid?.() }))
}
setInterval(() => undefined, 1000)
