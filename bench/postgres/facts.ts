/** What a commit costs just now. Imports pg. */
import pg from 'pg'
import { median } from '../ledger/statistics.js'

export async function commitMs(url: string): Promise<number> {
  const client = new pg.Client(url)
  await client.connect()
  await client.query('CREATE TABLE rows (i int)')
  const times: number[] = []
  for (let i = 0; i < 300; i++) {
    const startMs = performance.now()
    await client.query({ name: 'insert', text: 'INSERT INTO rows VALUES ($1)', values: [i] })
    times.push(performance.now() - startMs)
  }
  await client.end()
  return median(times)
}
