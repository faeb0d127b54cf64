/**
 * What texts of a document refer to, for whoever checks it before it runs. Imports templates, shell text, expressions.
 */
import type { Readers, References, TextReader } from '../plan/readers.js'
import { type Expressions, loadExpressions } from './expression.js'
import { TextError } from './setup-error.js'
import { unsetNamesIn } from './shell-names.js'
import { compileShell } from './shell-text.js'
import type { IsKnown } from './shell-reference.js'
import { parseTemplate } from './template.js'

const templateReader: TextReader = {
  referencesIn: (text) => read(() => ({ names: parseTemplate(text).references.map((reference) => reference.text) })),
}

/** Of shell text the references that are ours: known names, and what only we could mean, such as `${item.id}`. */
function shellReader(isKnown: IsKnown): TextReader {
  return {
    referencesIn: (text) => {
      const compiled = compileShell(text, isKnown)
      if ('problem' in compiled) return { names: [], problem: { message: compiled.problem, offset: compiled.offset } }
      const names = compiled.variables.map(({ reference }) => reference.text)
      const unset = unsetNamesIn(text, isKnown)
      return unset.length === 0 ? { names } : { names, unset }
    },
  }
}

function expressionChecker(expressions: Expressions): (text: string) => References {
  return (text) =>
    read(() => {
      const { names, numeric } = expressions.compile(text)
      return numeric.length === 0 ? { names } : { names, numeric }
    })
}

/** For a document with `text`; the language of expressions is loaded only if it can have one. */
export async function loadReaders(isKnown: IsKnown, text: string): Promise<Readers> {
  // A key can be written with escapes.
  const expressions = /when|\\/.test(text) ? await loadExpressions() : undefined
  return {
    template: templateReader,
    shell: shellReader(isKnown),
    checkExpression: (expression) => {
      if (!expressions) throw new Error('an expression in a document without `when`')
      return expressionChecker(expressions)(expression)
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
