/**
 * What texts of a document refer to, for whoever checks it before it runs. Imports templates, shell text, expressions.
 */
import type { Readers, References, TextReader } from '../plan/readers.js'
import { type Expressions, loadExpressions } from './expression.js'
import { TextError } from './setup-error.js'
import { unsetNamesIn } from './shell-names.js'
import { taintNotes } from './shell-taint.js'
import { compileShell } from './shell-text.js'
import type { IsKnown } from './shell-reference.js'
import { parseTemplate } from './template.js'

const templateReader: TextReader = {
  referencesIn: (text) => read(() => ({ names: parseTemplate(text).references.map((reference) => reference.text) })),
}

/** Of shell text the references that are ours: known names, and what only we could mean, such as `${item.id}`. */
function shellReader(isKnown: IsKnown): TextReader {
  return {
    referencesIn: (text, local) => {
      const isOurs = local === undefined ? isKnown : (name: string): boolean => local.has(name) || isKnown(name)
      const compiled = compileShell(text, isOurs)
      if ('problem' in compiled) return { names: [], problem: { message: compiled.problem, offset: compiled.offset } }
      const names = compiled.variables.map(({ reference }) => reference.text)
      const unset = unsetNamesIn(text, isOurs)
      return unset.length === 0 ? { names } : { names, unset }
    },
    notesOn: (text) => taintNotes(text, isKnown),
  }
}

/** Documents that may have an expression. A key can be written with escapes. */
const HAS_EXPRESSION = /when|until|filter|distinct|sort_by|\\/
const HAS_PATH = /json_path|\\/

/** For a document with `text`; the languages of expressions and paths are loaded only if it can have one. */
export async function loadReaders(isKnown: IsKnown, text: string): Promise<Readers> {
  const [loaded, paths] = await Promise.all([
    HAS_EXPRESSION.test(text) ? loadExpressions() : undefined,
    HAS_PATH.test(text) ? import('./json-path.js') : undefined,
  ])
  const expressions = (): Expressions => {
    if (loaded === undefined) throw new Error('an expression in a document without one')
    return loaded
  }
  return {
    template: templateReader,
    shell: shellReader(isKnown),
    checkExpression: (expression) =>
      read(() => {
        const { names, numeric } = expressions().compile(expression)
        return numeric.length === 0 ? { names } : { names, numeric }
      }),
    checkValue: (expression) => read(() => ({ names: expressions().compileValue(expression).names })),
    jsonPath: (path) => {
      if (paths === undefined) throw new Error('a JSONPath in a document without one')
      return read(() => ({ names: [paths.compileJsonPath(path).text] })).problem ?? null
    },
  }
}

function read(references: () => References): References {
  try {
    return references()
  } catch (error) {
    if (!(error instanceof TextError)) throw error
    const { message, offset, suggestion } = error
    return { names: [], problem: { message, offset, suggestion } }
  }
}
