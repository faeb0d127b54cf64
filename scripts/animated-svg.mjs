/**
 * Screens of a terminal as one animated SVG. It is self-contained (no script, no font, no address), plays as an image on
 * GitHub, and shows its last screen where animations are off or not supported. Pure: imports nothing.
 *
 * The screens are stacked in one column, which CSS moves up by one screen at a time. A line that occurs on several screens
 * is written once. Every character must be one UTF-16 unit and one column wide.
 */

/** A line is text with SGR escapes, as `tmux capture-pane -e` prints it. @typedef {readonly string[]} Screen */
/** @typedef {{ readonly screen: Screen, readonly durationMs: number }} Frame */
/** @typedef {{ readonly columns: number, readonly rows: number, readonly title: string }} Shape */
/** @typedef {{ readonly column: number, readonly text: string, readonly classes: string }} Run */

const CELL = { width: 8.4, height: 19 }
const MARGIN = { left: 16, top: 14 }
const FONT = "ui-monospace,SFMono-Regular,Menlo,Consolas,'Liberation Mono','DejaVu Sans Mono',monospace"

/** By SGR code. One palette on a dark window, which is readable on light and on dark pages. */
const COLOURS = {
  31: '#ff7b72',
  32: '#56d364',
  33: '#e3b341',
  34: '#79c0ff',
  35: '#d2a8ff',
  36: '#56d4dd',
  90: '#8b949e',
}

/** @param {string} text */
const escapeXml = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/** @param {number} value */
const short = (value) => String(Math.round(value * 100) / 100)

/** @param {Set<string>} styles @param {string} codes */
function applySgr(styles, codes) {
  for (const code of codes === '' ? ['0'] : codes.split(';')) {
    const number = Number(code)
    const isColour = (number >= 30 && number <= 39) || (number >= 90 && number <= 97)
    if (number === 0) styles.clear()
    if (isColour) for (const style of styles) if (style.startsWith('c')) styles.delete(style)
    if (number in COLOURS) styles.add(`c${number}`)
    if (number === 1) styles.add('b')
    if (number === 2) styles.add('d')
    if (number === 22) for (const style of ['b', 'd']) styles.delete(style)
  }
}

/**
 * Pieces of one style without a gap of two spaces, so that each can be put at its own column. `styles` are those at the end
 * of the previous line, and become those at the end of this one: tmux does not repeat them.
 * @param {string} line @param {Set<string>} styles
 */
export function runsOf(line, styles) {
  /** @type {Run[]} */
  const runs = []
  let column = 0
  // Each part but the first begins with the codes of an escape, as in `32mtext`.
  for (const [index, part] of line.split('\u001B[').entries()) {
    const codes = index === 0 ? '' : part.slice(0, part.indexOf('m') + 1)
    if (codes !== '') applySgr(styles, codes.slice(0, -1))
    const plain = part.slice(codes.length)
    for (const { 0: text, index: offset } of plain.matchAll(/\S+(?: \S+)*/g)) {
      runs.push({ column: column + offset, text, classes: [...styles].toSorted().join(' ') })
    }
    column += plain.length
  }
  return runs
}

/** `textLength` keeps the columns, whatever font the viewer has. @param {readonly Run[]} runs */
function drawLine(runs) {
  return runs
    .map(({ column, text, classes }) => {
      const place = `x="${short(column * CELL.width)}" textLength="${short(text.length * CELL.width)}"`
      const style = classes === '' ? '' : ` class="${classes}"`
      return `<text ${place} lengthAdjust="spacingAndGlyphs"${style}>${escapeXml(text)}</text>`
    })
    .join('')
}

/** @param {readonly Frame[]} frames @param {number} screenHeight */
function keyframesOf(frames, screenHeight) {
  const totalMs = frames.reduce((sum, frame) => sum + frame.durationMs, 0)
  let atMs = 0
  const steps = frames.map(({ durationMs }, index) => {
    const step = `${short((atMs / totalMs) * 100)}%{transform:translateY(${short(-index * screenHeight)}px)}`
    atMs += durationMs
    return step
  })
  const last = `translateY(${short(-(frames.length - 1) * screenHeight)}px)`
  return `@keyframes play{${steps.join('')}to{transform:${last}}}
.film{transform:${last};animation:play ${short(totalMs / 1000)}s step-end infinite}
@media (prefers-reduced-motion:reduce){.film{animation:none}}`
}

/** @param {readonly Frame[]} frames @param {Shape} shape */
export function animatedSvg(frames, { columns, rows, title }) {
  const screenHeight = rows * CELL.height
  const width = Math.ceil(columns * CELL.width + 2 * MARGIN.left)
  const height = screenHeight + 2 * MARGIN.top
  /** @type {Map<string, string>} */
  const names = new Map()
  const screens = frames.map(({ screen }, index) => {
    /** @type {Set<string>} */
    const styles = new Set()
    const lines = screen.map((line, row) => {
      const drawn = drawLine(runsOf(line, styles))
      if (drawn === '') return ''
      const name = names.get(drawn) ?? `l${names.size}`
      names.set(drawn, name)
      return `<use href="#${name}" y="${index * screenHeight + row * CELL.height + 14}"/>`
    })
    return lines.join('')
  })
  const definitions = [...names].map(([drawn, name]) => `<g id="${name}">${drawn}</g>`)
  const colours = Object.entries(COLOURS).map(([code, colour]) => `.c${code}{fill:${colour}}`)
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>${escapeXml(title)}</title>
<style>
text{font:14px ${FONT};fill:#e6edf3;white-space:pre}.b{font-weight:700}.d{fill:#8b949e}${colours.join('')}
${keyframesOf(frames, screenHeight)}
</style>
<defs>
${definitions.join('\n')}
</defs>
<rect x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="8" fill="#0d1117" stroke="#444c56"/>
<svg x="${MARGIN.left}" y="${MARGIN.top}" width="${short(columns * CELL.width)}" height="${screenHeight}">
<g class="film">
${screens.join('\n')}
</g>
</svg>
</svg>
`
}
