/** How something is to be shown, to whom it is shown. Imports settings, world and styles. */
import type { Settings } from '../settings.js'
import type { World } from '../world.js'
import { isTerminal, type Style, styleFor } from './style.js'

export interface Look {
  readonly style: Style
  /** Cells of a line; in a pipe as many as it takes. */
  readonly screen: number
  /** Cells of a line of text: longer ones are hard to read, however wide the window is. */
  readonly width: number
  /** Whether to draw bars beside the numbers. */
  readonly bars: boolean
  /** Whether block characters can be shown; else charts are drawn with ASCII. */
  readonly blocks: boolean
  readonly quiet: boolean
  readonly verbose: boolean
}

const MAX_WIDTH = 100
const MIN_WIDTH = 40
const PIPE_WIDTH = 1000

export function lookFor({ stdout, env }: World, { color, quiet, verbose }: Settings): Look {
  const screen = stdout.columns ?? PIPE_WIDTH
  return {
    style: styleFor(color, stdout, env),
    screen,
    width: Math.max(MIN_WIDTH, Math.min(screen, MAX_WIDTH)),
    bars: isTerminal(stdout, env),
    blocks: stdout.isTTY === true && !env['CI'] && env['TERM'] !== 'dumb' && !isOtherCharset(env),
    quiet,
    verbose,
  }
}

/** Whether the locale says that text is something other than UTF-8. */
function isOtherCharset(env: World['env']): boolean {
  const locale = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || ''
  return locale !== '' && !/utf-?8/i.test(locale)
}
