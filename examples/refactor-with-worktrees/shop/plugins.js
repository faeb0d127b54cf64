const plugins = (process.env.SHOP_PLUGINS ?? '')
  .split(',')
  .filter(Boolean)
  .map((name) => require(name))

module.exports = { plugins }
