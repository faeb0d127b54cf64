/**
 * Lengths of time by chance. Imports types of core only.
 */
import type { Random } from '../core/time.js'

/** How service times may vary around their mean. */
export const SERVICE_SHAPES = ['exponential', 'fixed', 'lognormal', 'long-tail'] as const
/** `long-tail`: one answer in fifty takes twenty times as long as the others. */
export type ServiceShape = (typeof SERVICE_SHAPES)[number]

const TAIL_SHARE = 0.02
const TAIL_FACTOR = 20

/** A length of time with this mean. */
export function drawLength(shape: ServiceShape, meanMs: number, random: Random): number {
  switch (shape) {
    case 'fixed':
      return meanMs
    case 'exponential':
      return exponential(meanMs, random)
    case 'lognormal':
      return meanMs * Math.exp(normal(random) - 0.5)
    case 'long-tail': {
      const usualMs = meanMs / (1 - TAIL_SHARE + TAIL_SHARE * TAIL_FACTOR)
      return (0.5 + random()) * usualMs * (random() < TAIL_SHARE ? TAIL_FACTOR : 1)
    }
  }
}

export function exponential(mean: number, random: Random): number {
  return -mean * Math.log(1 - random())
}

/** Standard normal, by Box and Muller. */
function normal(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
}
