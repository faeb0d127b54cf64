/** How something is to be shown, to whom it is shown. Imports settings, process IO and styles. */
import type { Settings } from '../settings.js'
import type { Output, ProcessIo } from '../process-io.js'
import { isTerminal, type Style, styleFor } from './style.js'

export interface Display {
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

/** For what is written to `output`: stdout unless it is talk. */
export function displayFor(
  { stdout, env }: ProcessIo,
  { color, quiet, verbose }: Pick<Settings, 'color' | 'quiet' | 'verbose'>,
  output: Output = stdout,
): Display {
  // Some terminals say 0 when they do not know.
  const screen = output.columns || PIPE_WIDTH
  return {
    style: styleFor(color, output, env),
    screen,
    width: Math.max(MIN_WIDTH, Math.min(screen, MAX_WIDTH)),
    bars: isTerminal(output, env),
    blocks: output.isTTY === true && !env['CI'] && env['TERM'] !== 'dumb' && !isOtherCharset(env),
    quiet,
    verbose,
  }
}

/** Whether the locale says that text is something other than UTF-8. */
function isOtherCharset(env: ProcessIo['env']): boolean {
  const locale = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || ''
  return locale !== '' && !/utf-?8/i.test(locale)
}
