const price = (cents) => `${(cents / 100).toFixed(2)} EUR`

module.exports = { price }
