const tax = (cents) => Math.round(cents * 0.19)

module.exports = { tax }
