/** Whether texts of a document can be read, and whether what they refer to is known. Imports references and findings. */
import type { Findings } from '../document/findings.js'
import type { Reading } from '../document/shape.js'
import type { FoundText } from '../document/texts.js'
import type { Readers, References } from './readers.js'
import {
  faultOfNumeric,
  faultOfReference,
  faultOfShellName,
  type ReferenceFault,
  type Scope,
} from './reference-check.js'
import { sortKeyOf } from './sort-key.js'

export function checkTexts(findings: Findings, readers: Readers, texts: readonly FoundText[], scope: Scope): void {
  for (const { located, text, reading } of texts) {
    const { names, unset, numeric, problem } = referencesIn(readers, text, reading, scope)
    if (problem !== undefined) {
      const { message, offset, suggestion } = problem
      // The last line break of a block is not part of what stands in the file.
      const part = { written: text.trimEnd(), offset }
      findings.failWithin(located, part, message, suggestion, ` (at character ${offset + 1})`)
    }
    const sign = reading === 'template' || reading === 'shell' ? '${' : ''
    const check = (all: readonly string[] | undefined, fault: (name: string) => ReferenceFault | undefined): void => {
      for (const name of new Set(all)) {
        const found = fault(name)
        const part = { written: sign + name, offset: 0 }
        if (found !== undefined) findings.failWithin(located, part, found.message, found.suggestion)
      }
    }
    check(names, (name) => faultOfReference(name, sign === '' ? 'expression' : reading, scope))
    check(unset, (name) => faultOfShellName(name, scope))
    check(numeric, (name) => faultOfNumeric(name, scope))
  }
}

function referencesIn(readers: Readers, text: string, reading: Reading, { local }: Scope): References {
  switch (reading) {
    case 'expression':
      return readers.checkExpression(text)
    case 'value':
      return readers.checkValue(text)
    case 'sort_key':
      return readers.checkValue(sortKeyOf(text).expression)
    case 'json_path': {
      const problem = readers.jsonPath(text)
      return problem === null ? { names: [] } : { names: [], problem }
    }
    case 'shell':
    case 'template':
      return readers[reading].referencesIn(text, local)
  }
}
