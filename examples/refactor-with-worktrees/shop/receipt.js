const { price } = require('./price.js')
const { total } = require('./basket.js')

const receipt = (items) => [
  ...items.map(({ name, cents }) => `${name} ${price(cents)}`),
  `total ${price(total(items))}`,
]

module.exports = { receipt }
