/** How many jobs are done, asked of the database beside whoever works there. Imports pg. */
import pg from 'pg'

/** @param {string} url @param {string} sql with a column `n` @returns {Promise<() => Promise<number>>} */
export async function sqlCounter(url, sql) {
  const client = new pg.Client(url)
  await client.connect()
  return async () => (await client.query(sql)).rows[0].n
}
