const { tax } = require('./tax.js')

const total = (items) => items.reduce((sum, { cents }) => sum + cents + tax(cents), 0)

module.exports = { total }
