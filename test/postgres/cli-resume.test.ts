/**
 * What is true of runs in a file is true of runs on a server: the same tests, killed processes and all, each with a schema
 * of its own. Needs a build.
 */
import { afterAll, describe } from 'vitest'
import { keepIn } from '../workflow/cli-fixture.js'
import { testDatabase } from './shared-server.js'

const database = await testDatabase()
afterAll(() => database.drop())
keepIn(database.url)

// Each in a suite of its own, with its own tidying up.
describe('resume on a server', () => import('../workflow/resume.test.js').then(() => undefined))
