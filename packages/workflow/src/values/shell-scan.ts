/**
 * Reads shell text as far as needed to know what surrounds each of our references: quotes, substitutions, here-documents,
 * arithmetic, comments, `[[ ]]`, `case`, and the words of each simple command. It follows bash; what sh reads otherwise
 * is not portable in the first place.
 *
 * Values are never part of the text, so a mistake here cannot make a program of a value by itself: it would leave a value
 * unquoted, or a variable's name literal. Invariant: the time is proportional to text × depth, and the depth is bounded.
 * Imports references and the rules about words.
 */
import { TextError } from './setup-error.js'
import { Commands, type HereDocument, isTest } from './shell-commands.js'
import { arithmeticEnd, delimiterAt, documentExtent } from './shell-extent.js'
import { REFUSALS, type ShellContext, type ShellFind } from './shell-find.js'
import { type IsKnown, LITERAL, ourReference, workedOn } from './shell-reference.js'
import {
  assignedNames,
  EXPANDED,
  refuseEvaluated,
  refuseRead,
  refuseStdin,
  refuseSubscripts,
  type ShellWord,
} from './shell-words.js'

const MAX_DEPTH = 40
/** Each may have to be looked at from each. */
const MAX_WORDS = 5000
/** Characters that are only themselves. */
const ORDINARY = /[^\s;&|<>()"'`$\\]*/y
const PLAIN_NAME = /\$\{([A-Za-z_]\w*)\}/y
const KEYWORDS: ReadonlySet<string> = new Set('if then elif else fi do done while until ! { } time coproc'.split(' '))
const OPENS: ReadonlySet<string> = new Set('if while until for select case {'.split(' '))
const CLOSES: ReadonlySet<string> = new Set('fi done esac }'.split(' '))

/** Throws a `TextError` where a quote or a bracket never ends. */
export function scanShell(text: string, isKnown: IsKnown): readonly ShellFind[] {
  const scan = new ShellScan(text, isKnown)
  scan.commands(null, false)
  return scan.finds
}

/** The names of plain `${name}`, ours or the shell's, where a shell would expand them. Throws as `scanShell` does. */
export function shellNamesIn(text: string, isKnown: IsKnown): readonly string[] {
  const scan = new ShellScan(text, isKnown)
  scan.commands(null, false)
  return [...scan.names]
}

/** The names of the shell's variables that the text gives one of our values. Throws as `scanShell` does. */
export function assignedNamesIn(text: string, isKnown: IsKnown): readonly string[] {
  const scan = new ShellScan(text, isKnown)
  scan.commands(null, false)
  return [...scan.assigned]
}

class ShellScan {
  readonly finds: ShellFind[] = []
  readonly assigned = new Set<string>()
  readonly names = new Set<string>()
  readonly #text: string
  readonly #isKnown: IsKnown
  readonly #lastBracket: number
  #at = 0
  /** Nothing behind it is read: the end of the text, or of what is being read as one. */
  #limit: number
  #depth = 0
  /** The word that is being read, and up to where it has been taken in. */
  #word: ShellWord | null = null
  #taken = 0
  /** They begin behind the next newline. */
  #documents: HereDocument[] = []

  constructor(text: string, isKnown: IsKnown) {
    this.#text = text
    this.#isKnown = isKnown
    this.#lastBracket = text.lastIndexOf(']')
    this.#limit = text.length
  }

  /** Up to the closing parenthesis, or to the end of the text. `read`: what the commands read; returns what they print. */
  commands(close: ')' | null, isWords: boolean, read: readonly ShellFind[] = []): readonly ShellFind[] {
    const opened = this.#at - 1
    // Commands within a word are not of the word.
    const outer = this.#word
    this.#word = null
    this.#deeper()
    const list = new Commands(isWords, read)
    while (!this.#isClosed(list, close, opened)) this.#plain(list, this.#peek())
    this.#endCommand(list)
    list.endPipeline()
    this.#depth--
    this.#returnTo(outer)
    return list.printed
  }

  #isClosed(list: Commands, close: ')' | null, opened: number): boolean {
    const char = this.#peek()
    if (char === '' && close !== null) throw new TextError('a parenthesis that opens here never ends', opened)
    if (char !== ')') return char === ''
    this.#endWord(list)
    if (isTest(list)) return false
    if (list.cases.at(-1) === 'pattern') {
      list.cases[list.cases.length - 1] = 'body'
      list.words = []
      return false
    }
    if (close !== null) this.#at++
    return close !== null
  }

  #plain(list: Commands, char: string): void {
    switch (char) {
      case ' ':
      case '\t':
      case ')':
        this.#at++
        return this.#endWord(list)
      case '\n':
        this.#at++
        return this.#endLine(list)
      case ';':
      case '&':
      case '|':
        return this.#separator(list, char)
      case '<':
      case '>':
        return this.#redirection(list)
      case '(':
        return this.#parenthesis(list)
      default:
        if (char === '#' && list.word === null) this.#at = this.#lineEnd()
        else this.#wordPart((list.word ??= { text: '', isQuoted: false, finds: [] }), char)
    }
  }

  #wordPart(word: ShellWord, char: string): void {
    this.#word = word
    this.#taken = this.#at
    if ('"\'`$\\'.includes(char)) word.isQuoted = true
    if (char === '"') this.#quoted('"', 'double', 'a double quote')
    else if (char === "'") this.#quoted("'", 'single', 'a single quote')
    else if (char === '`') this.#backticks()
    else if (char === '$') this.#dollar('plain')
    else if (char === '\\') this.#at += 2
    else {
      ORDINARY.lastIndex = this.#at + 1
      ORDINARY.test(this.#text)
      this.#at = Math.min(ORDINARY.lastIndex, this.#limit)
    }
    this.#take(this.#at)
    this.#word = null
  }

  /** Text of the current word, without what quotes it. */
  #take(end: number): void {
    if (this.#word !== null) this.#word.text += this.#text.slice(this.#taken, end).replaceAll(/\\\n|["'\\]/g, '')
    this.#taken = end
  }

  #returnTo(word: ShellWord | null): void {
    this.#word = word
    this.#taken = this.#at
    if (word !== null) word.text += EXPANDED
  }

  #endWord(list: Commands): void {
    const { word, words, cases, target } = list
    if (word === null) return
    list.word = null
    list.target = null
    const where = cases.at(-1)
    const keyword = word.isQuoted || list.isWords || target !== null ? '' : word.text
    const isFirst = words.length === 0 || (keyword === '{' && words[0]!.text === 'function')
    if (isFirst && where !== 'pattern' && where !== 'subject') {
      if (OPENS.has(keyword)) list.open()
      else if (CLOSES.has(keyword)) list.close()
    }
    if (where === 'subject') {
      if (keyword === 'in') cases[cases.length - 1] = 'pattern'
    } else if (keyword === 'esac' && words.length === 0 && where !== undefined) cases.pop()
    else if (keyword === 'case' && words.length === 0 && where !== 'pattern') cases.push('subject')
    else if (target === 'text') list.stdin.push(...word.finds.map(({ find }) => find))
    // The name of a function is no command.
    else if (isFirst && keyword === '{') list.words = []
    else if (target === null && !(words.length === 0 && KEYWORDS.has(keyword))) words.push(word)
    if (words.length > MAX_WORDS) throw new TextError(`a command has more than ${MAX_WORDS} words`, this.#at)
  }

  #endCommand(list: Commands): void {
    this.#endWord(list)
    refuseSubscripts(list.words)
    if (!list.isWords) refuseEvaluated(list.words)
    for (const name of assignedNames(list.words, list.stdin)) this.assigned.add(name)
    list.endWords()
  }

  #endPipeline(list: Commands): void {
    this.#endCommand(list)
    list.endPipeline()
  }

  #endLine(list: Commands): void {
    this.#endWord(list)
    if (!isTest(list) && !list.isWords) this.#endPipeline(list)
    const documents = this.#documents
    this.#documents = []
    for (const document of documents) {
      const { end, next } = documentExtent(this.#text, this.#at, this.#limit, document)
      const first = this.finds.length
      this.#within(end, document.isQuoted ? 'quoted_heredoc' : 'heredoc', next)
      const read = this.finds.slice(first).filter(({ context }) => context === 'heredoc')
      refuseStdin(document.words, read)
      document.pipeline.addDocument(document.stage, read)
      list.printed.push(...read)
    }
  }

  #separator(list: Commands, char: string): void {
    this.#endWord(list)
    this.#at++
    if (isTest(list) || (char === '&' && this.#peek() === '>')) return
    const isPipe = char === '|' && this.#peek() !== '|'
    // Alternatives of a pattern are no commands.
    if (list.cases.at(-1) === 'pattern') list.words = []
    else if (isPipe) this.#endCommand(list)
    else this.#endPipeline(list)
    // `||` and `|&` are one sign.
    if (char === '|' && /[|&]/.test(this.#peek())) this.#at++
    if (char !== ';' || list.cases.at(-1) !== 'body' || !/[;&]/.test(this.#peek())) return
    while (/[;&]/.test(this.#peek())) this.#at++
    list.cases[list.cases.length - 1] = 'pattern'
  }

  #redirection(list: Commands): void {
    if (isTest(list)) return this.#skip(list, 1)
    if (this.#text[this.#at + 1] === '(') {
      this.#word = list.word ??= { text: '', isQuoted: true, finds: [] }
      this.#taken = this.#at
      const isInput = this.#peek() === '<'
      this.#at += 2
      const printed = this.#substituted(isInput ? [] : list.words.flatMap(({ finds }) => finds.map(({ find }) => find)))
      if (isInput) refuseRead(list.words, printed)
      this.#word = null
      return
    }
    // A number directly before it belongs to it: `2>file`.
    if (/^\d+$/.test(list.word?.text ?? '')) list.word = null
    this.#endWord(list)
    if (this.#text.startsWith('<<<', this.#at)) {
      this.#at += 3
      list.target = 'text'
    } else if (this.#text.startsWith('<<', this.#at)) {
      const { end, ...delimiter } = delimiterAt(this.#text, this.#at, this.#limit)
      const { words, pipeline } = list
      this.#documents.push({ ...delimiter, words, pipeline, stage: pipeline.stage })
      this.#at = end
    } else {
      this.#at++
      while (this.#peek() !== '' && '>&|'.includes(this.#peek())) this.#at++
      list.target = 'file'
    }
  }

  #skip(list: Commands, length: number): void {
    this.#endWord(list)
    this.#at += length
  }

  #parenthesis(list: Commands): void {
    const { word, words } = list
    if (isTest(list) || (word === null && list.cases.at(-1) === 'pattern')) return this.#skip(list, 1)
    const isCommand = word === null && (words.length === 0 || words[0]!.text === 'for') && !list.isWords
    const isDouble = this.#text[this.#at + 1] === '('
    const end = isCommand && isDouble ? arithmeticEnd(this.#text, this.#at, this.#limit) : -1
    if (end !== -1) {
      this.#at += 2
      return this.#within(end - 2, 'arithmetic', end)
    }
    // The elements of an array, or a pattern such as `@(a|b)`: still the same word.
    const isPart = word !== null && !word.isQuoted && /[=?*+@!]$/.test(word.text)
    if (!isPart) this.#endCommand(list)
    this.#at++
    const printed = this.commands(')', isPart, list.pipeline.flow)
    if (!isPart) list.take(printed)
  }

  /** Reads up to `end` as one context, and goes on at `next`. */
  #within(end: number, context: ShellContext, next: number): void {
    const limit = this.#limit
    this.#limit = end
    this.#deeper()
    while (this.#peek() !== '') this.#char(context)
    this.#depth--
    this.#limit = limit
    this.#at = next
  }

  #quoted(close: string, context: ShellContext, what: string): void {
    const opened = this.#at++
    this.#deeper()
    while (this.#peek() !== close) {
      if (this.#peek() === '') throw new TextError(`${what} that opens here never ends`, opened)
      this.#char(context)
    }
    this.#at++
    this.#depth--
  }

  /** Not looked into for words: nothing of ours is allowed there. */
  #backticks(): void {
    const outer = this.#word
    this.#take(this.#at)
    this.#word = null
    this.#quoted('`', 'backticks', 'a backtick')
    this.#returnTo(outer)
  }

  /** One character, or what it begins, where there are neither words nor operators. */
  #char(context: ShellContext): void {
    const char = this.#peek()
    const isInner = context === 'arithmetic' || context === 'parameter'
    if (char === '$') this.#dollar(context)
    else if (char === '\\' && context !== 'single' && context !== 'quoted_heredoc') this.#at += 2
    else if (char === '`' && !LITERAL.has(context)) this.#backticks()
    else if (char === '"' && isInner) this.#quoted('"', context, 'a double quote')
    else this.#at++
  }

  #dollar(context: ShellContext): void {
    const next = this.#text[this.#at + 1]
    const isText = LITERAL.has(context) || context === 'backticks'
    if (this.#text.startsWith('$${', this.#at)) {
      this.finds.push({ start: this.#at, end: this.#at + 3, reference: null, context, refusal: null })
      this.#at += 3
      // The rest is the shell's own.
      if (!isText) this.#parameter(context)
    } else if (next === '{') this.#brace(context)
    else if (isText) this.#at++
    else if (next === '(') this.#substitution(context)
    else if (next === '[') this.#oldArithmetic()
    else if (next === "'" && context === 'plain') {
      this.#at++
      this.#quoted("'", 'dollar_single', 'a single quote')
    } else this.#at += next === '$' ? 2 : 1
  }

  #brace(context: ShellContext): void {
    PLAIN_NAME.lastIndex = this.#at
    const plainName = LITERAL.has(context) ? undefined : PLAIN_NAME.exec(this.#text)?.[1]
    if (plainName !== undefined) this.names.add(plainName)
    const found = ourReference(this.#text, this.#at, context, this.#isKnown)
    if (found && found.end <= this.#limit) {
      const find = { start: this.#at, end: found.end, reference: found.reference, context, refusal: null }
      this.finds.push(find)
      this.#take(this.#at)
      this.#word?.finds.push({ find, at: this.#word.text.length })
      this.#at = found.end
      return this.#returnTo(this.#word)
    }
    const name = workedOn(this.#text, this.#at, context, this.#isKnown)
    if (name !== undefined) {
      const cure = `write \`value=\${${name}}\` first, and work on \`value\``
      throw new TextError(`the shell cannot work on \`${name}\`, which is no variable of its own: ${cure}`, this.#at)
    }
    this.#at += 2
    return LITERAL.has(context) || context === 'backticks' ? undefined : this.#parameter(context)
  }

  /** The shell's own `${…}`, from behind its opening brace. */
  #parameter(context: ShellContext): void {
    const opened = this.#at - 2
    this.#deeper()
    // Within double quotes a single quote is itself, except in a pattern.
    const isPattern = /^\$\{\w+[#%/^,]/.test(this.#text.slice(opened, opened + 80))
    const quotes = isPattern || !(context === 'double' || context === 'heredoc')
    while (this.#peek() !== '}') {
      if (this.#peek() === '') throw new TextError('a `${` that opens here never ends', opened)
      if (this.#peek() === "'" && quotes) this.#quoted("'", 'single', 'a single quote')
      else this.#char('parameter')
    }
    this.#at++
    this.#depth--
  }

  #substitution(context: ShellContext): void {
    const isDouble = this.#text[this.#at + 2] === '('
    const end = isDouble ? arithmeticEnd(this.#text, this.#at + 1, this.#limit) : -1
    this.#take(this.#at)
    this.#at += end === -1 ? 2 : 3
    if (end !== -1) return this.#within(end - 2, 'arithmetic', end)
    const printed = this.#substituted()
    // What is printed becomes a part of the word, or of the arithmetic, around it.
    this.#word?.finds.push(...printed.map((find) => ({ find, at: this.#word!.text.length - 1 })))
    if (context === 'arithmetic') for (const find of printed) find.refusal ??= REFUSALS.arithmetic!
  }

  /** Commands whose newlines begin no here-documents of the line around them. */
  #substituted(read: readonly ShellFind[] = []): readonly ShellFind[] {
    const outer = this.#documents
    this.#documents = []
    const printed = this.commands(')', false, read)
    this.#documents.unshift(...outer)
    return printed
  }

  #oldArithmetic(): void {
    const close = this.#at > this.#lastBracket ? -1 : this.#text.indexOf(']', this.#at)
    this.#at += 2
    if (close !== -1 && close < this.#limit) this.#within(close, 'arithmetic', close + 1)
  }

  #peek(): string {
    return this.#at < this.#limit ? this.#text[this.#at]! : ''
  }

  #lineEnd(): number {
    const newline = this.#text.indexOf('\n', this.#at)
    return newline === -1 ? this.#limit : Math.min(newline, this.#limit)
  }

  #deeper(): void {
    if (++this.#depth > MAX_DEPTH) throw new TextError(`shell text nests deeper than ${MAX_DEPTH} levels`, this.#at)
  }
}
