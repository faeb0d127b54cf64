/** Pages as one list, and what the orders are worth. What a function returns is what the step captures. */
export default function join({ with: { pages } }) {
  const orders = pages.flatMap((page) => page?.orders ?? [])
  return { orders, cents: orders.reduce((sum, order) => sum + order.cents, 0) }
}
