/** Several processes on one server, as on one file: the same tests, each with a schema of its own. Needs a build. */
import { afterAll, describe } from 'vitest'
import { keepIn } from '../workflow/cli-fixture.js'
import { testDatabase } from './shared-server.js'

const database = await testDatabase()
afterAll(() => database.drop())
keepIn(database.url)

// Each in a suite of its own, with its own tidying up.
describe('together on a server', () => import('../workflow/together.test.js').then(() => undefined))
describe('names of runs on a server', () => import('../workflow/run-names.test.js').then(() => undefined))
describe('times on a server', () => import('../workflow/times.test.js').then(() => undefined))
describe('zombie on a server', () => import('../workflow/zombie.test.js').then(() => undefined))
describe('equal names on a server', () => import('../workflow/equal-names.test.js').then(() => undefined))
