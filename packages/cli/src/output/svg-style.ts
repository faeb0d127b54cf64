/**
 * How the picture of a storm looks: colours for light and dark pages on a ground of its own, so that it reads wherever
 * it is put. Plain rules without variables, which not every renderer knows. Imports nothing.
 * Invariant: orange and blue differ for every eye, and each series has a shape of its own beside its colour.
 */

const FONT = "font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif"

type Colours = Readonly<Record<string, string>>

const LIGHT: Colours = {
  '.ground': 'fill:#ffffff;stroke:#d0d7de',
  '.ink': 'fill:#1f2328',
  '.soft': 'fill:#59636e',
  '.bad': 'fill:#b42318',
  '.grid': 'stroke:#d8dee4',
  '.axis': 'stroke:#818b98',
  '.frame': 'stroke:#1f2328',
  '.span': 'fill:#8c959f',
  '.offered': 'stroke:#1f2328',
  '.attempts': 'stroke:#bc4c00',
  '.attempts-ink': 'fill:#a04100',
  '.useful': 'fill:#54a3f5;stroke:#0969da',
  '.useful-ink': 'fill:#0a3069',
}

const DARK: Colours = {
  '.ground': 'fill:#0d1117;stroke:#3d444d',
  '.ink': 'fill:#f0f6fc',
  '.soft': 'fill:#9ea7b3',
  '.bad': 'fill:#ff8f86',
  '.grid': 'stroke:#2a313c',
  '.axis': 'stroke:#656c76',
  '.frame': 'stroke:#f0f6fc',
  '.span': 'fill:#9198a1',
  '.offered': 'stroke:#f0f6fc',
  '.attempts': 'stroke:#f0883e',
  '.attempts-ink': 'fill:#ffa657',
  '.useful': 'fill:#1f6feb;stroke:#79c0ff',
  '.useful-ink': 'fill:#ddf4ff',
}

const SHAPES: Colours = {
  text: `${FONT};font-size:11px`,
  '.title': 'font-weight:600',
  '.name': 'font-size:13px;font-weight:600',
  '.strong': 'font-weight:700',
  '.end': 'text-anchor:end',
  '.middle': 'text-anchor:middle',
  '.grid,.axis': 'stroke-width:1',
  '.frame': 'fill:none;stroke-width:1.5',
  '.span': 'opacity:.2',
  '.offered': 'fill:none;stroke-width:1;stroke-dasharray:4 3',
  '.attempts': 'fill:none;stroke-width:1.8;stroke-linejoin:round',
  '.useful': 'fill-opacity:.5;stroke-width:.8',
}

export const STYLE = `${rules(SHAPES)}\n${rules(LIGHT)}\n@media (prefers-color-scheme:dark){\n${rules(DARK)}\n}`

function rules(of: Colours): string {
  return Object.entries(of)
    .map(([selector, rule]) => `${selector}{${rule}}`)
    .join('\n')
}
