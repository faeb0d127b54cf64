/**
 * A small shop in SQLite, and the commands that the workflow runs on it. Uses the SQLite of Node where it has one, else
 * `@photostructure/sqlite`, which has the same interface.
 *
 *   node db.mjs hold FILE SECONDS COMMAND…   locks the database, as a long report does, and runs the command meanwhile
 */
import { spawn } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const CUSTOMERS = 1000
const BATCH = 100
/** Seconds that a batch takes. */
const PACE = Number(process.env.PACE ?? 0.15)

async function open(file) {
  if (!existsSync(file)) mkdirSync(path.dirname(file), { recursive: true })
  const database = await connect(file)
  // It says that it is locked at once: waiting is the workflow's business.
  database.exec('pragma busy_timeout = 0')
  return database
}

async function connect(file) {
  process.removeAllListeners('warning') // that it is new
  const { DatabaseSync } = await import('node:sqlite').catch((error) => {
    if (error.code !== 'ERR_UNKNOWN_BUILTIN_MODULE') throw error
    return import('@photostructure/sqlite')
  })
  return new DatabaseSync(file)
}

const versionOf = (database) => database.prepare('pragma user_version').get().user_version

function create(database) {
  if (versionOf(database) > 0) return
  database.exec(`begin immediate;
    create table customers (id integer primary key, name text not null);
    with recursive n(i) as (select 1 union all select i + 1 from n where i < ${CUSTOMERS})
      insert into customers (name) select 'customer-' || i from n;
    pragma user_version = 1;
    commit`)
}

function backup(database, target) {
  mkdirSync(path.dirname(target), { recursive: true })
  rmSync(target, { force: true })
  database.prepare('vacuum into ?').run(target)
  console.log(`kept ${target}`)
}

/** The number at the beginning of its name is the version that it leads to. A second time it does nothing. */
function migrate(database, file) {
  const version = Number.parseInt(path.basename(file), 10)
  database.exec('begin immediate')
  if (versionOf(database) >= version) console.log(`version ${version} is there already`)
  else {
    database.exec(readFileSync(file, 'utf8'))
    database.exec(`pragma user_version = ${version}`)
    console.log(`now at version ${version}`)
  }
  database.exec('commit')
}

const countMissing = (database) => database.prepare('select count(*) as n from customers where email is null').get().n

async function backfill(database) {
  const fill = database.prepare(
    `update customers set email = name || '@example.com'
     where id in (select id from customers where email is null limit ${BATCH})`,
  )
  while (countMissing(database) > 0) {
    fill.run()
    console.log(`${CUSTOMERS - countMissing(database)} of ${CUSTOMERS} have an address`)
    await sleep(1000 * PACE)
  }
}

/** Until so many seconds after somebody was refused: on a busy machine as on an idle one. */
async function hold(file, seconds, [program, ...args]) {
  const database = await open(file)
  create(database)
  rmSync(refusals(file), { force: true })
  database.exec('begin immediate')
  if (program === undefined) console.log('locked')
  else {
    const child = spawn(program, args, { stdio: 'inherit' })
    // Both get a Ctrl-C; the command decides what it means.
    process.on('SIGINT', () => undefined)
    child.on('exit', (code) => process.exit(code ?? 1))
  }
  while (!existsSync(refusals(file))) await sleep(50)
  await sleep(1000 * seconds)
  database.exec('commit')
  database.close()
}

const refusals = (file) => `${file}.refused`

/** Leaves a note for whoever holds the lock, and fails. */
function refuse(error, file) {
  if (/locked/.test(error.message)) appendFileSync(refusals(file), 'x')
  throw error
}

async function run(command, file, [given]) {
  const database = await open(file)
  create(database)
  if (command === 'backup') backup(database, given)
  else if (command === 'migrate') migrate(database, given)
  else if (command === 'is-at') process.exitCode = versionOf(database) >= Number(given) ? 0 : 1
  else if (command === 'backfill') await backfill(database)
  else if (command === 'count-missing') console.log(countMissing(database))
  else throw new Error(`there is no command ${command}`)
  database.close()
}

const [command, file, ...given] = process.argv.slice(2)
if (command === 'hold') await hold(file, Number(given[0]), given.slice(1))
else await run(command, file, given).catch((error) => refuse(error, file))
