const { receipt } = require('./receipt.js')

const items = [
  { name: 'bread', cents: 320 },
  { name: 'cheese', cents: 780 },
]
for (const line of receipt(items)) console.log(line)
