/**
 * Writes 1000 records as NDJSON, the export of a shop: `node records.mjs > records.ndjson`. Seven of them are poison: five
 * prices have a decimal comma, and two records have no price at all.
 */
const COMMA = new Set([104, 311, 428, 655, 902])
const NO_PRICE = new Set([277, 840])

for (let id = 1; id <= 1000; id++) {
  const cents = 100 + ((id * 37) % 900)
  const price = (cents / 100).toFixed(2)
  const record = { id: `R-${String(id).padStart(4, '0')}`, name: `article ${id}`, price }
  if (COMMA.has(id)) record.price = price.replace('.', ',')
  if (NO_PRICE.has(id)) delete record.price
  console.log(JSON.stringify(record))
}
