import {
  Composer,
  type CST,
  type Document,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type ParsedNode,
  Parser,
  type YAMLError,
} from 'yaml'
import { keyNames } from '../../core/settings/json-schema.ts'
import { formatPath, type Path } from '../../core/settings/problem.ts'
import type { Objection } from '../../core/units.ts'
import type { Environment } from './environment.ts'
import { plainValue, type SubstitutedVariable } from './plain-value.ts'

/** What is wrong with the form of a document, and what is usually meant instead. `line`: of the error. */
export function syntaxProblem(error: YAMLError, line: string): Objection {
  return { message: syntaxText(error), hint: syntaxHint(error, line) }
}

/** The parser's text without what it repeats of the source: that may be part of a secret. */
function syntaxText({ code, message }: YAMLError): string {
  const said = ownTexts[code] ?? message
  const told = said
    .replace(/ token in YAML stream: .*/s, '')
    .replace(/(escape sequence|reserved character) .*/s, '$1')
    .replace('"quote', 'quote')
    .replace(/: .*/s, '')
  return `is no valid YAML: ${told.charAt(0).toLowerCase()}${told.slice(1)}`
}

/** Where the parser's text repeats the source in its middle. */
const ownTexts: Partial<Record<YAMLError['code'], string>> = {
  BAD_DIRECTIVE: 'a directive cannot be used here',
  TAG_RESOLVE_FAILED: 'a tag cannot be used here',
}

function syntaxHint({ code }: YAMLError, line: string): string {
  switch (code) {
    case 'TAB_AS_INDENT':
      return 'indent with spaces'
    case 'BAD_DQ_ESCAPE':
      return 'write \\\\ for a backslash, or use single quotes'
    case 'BAD_SCALAR_START':
    case 'BLOCK_AS_IMPLICIT_KEY':
      return 'put the text in quotes'
    case 'BAD_INDENT':
      return 'begin what belongs together at the same column'
    default:
      return /[[{,]/.test(line.slice(0, Math.max(0, line.lastIndexOf('${'))))
        ? `between { } or [ ] a \${…} has to stand in quotes`
        : 'look at the quotes, brackets, colons and indentation here and just before'
  }
}

/**
 * The path of what began last before an offset: what an error there is about, or what stands next to it. It ends before what is no
 * key here: a slip in the form makes keys of values, of secrets too.
 */
export function lastBegun(contents: ParsedNode | null | undefined, offset: number): Path {
  const path: (string | number)[] = []
  let node: unknown = contents
  for (;;) {
    if (isMap<ParsedNode, ParsedNode | null>(node)) {
      const pair = node.items.findLast(({ key }) => key.range[0] <= offset)
      const key = isScalar(pair?.key) ? pair.key.value : undefined
      if (pair === undefined || typeof key !== 'string' || !keyNames.has(key)) return path
      path.push(key)
      node = pair.value
    } else if (isSeq<ParsedNode | null>(node)) {
      const place = node.items.findLastIndex(item => item !== null && item.range[0] <= offset)
      if (place < 0) return path
      path.push(place)
      node = node.items[place]
    } else return path
  }
}

export interface Place {
  readonly line: number
  readonly column: number
}

/** A problem of one document; of an empty path when it is about all of it. */
export interface DocumentProblem extends Place {
  readonly path: Path
  readonly message: string
  readonly hint: string
}

export interface ConfigDocument {
  /** Plain values with the environment put in; an empty document is an empty mapping. Undefined: it cannot be parsed. */
  readonly value: unknown
  /** Of a document that cannot be parsed, what of its outermost mapping was read before the mistake. */
  readonly outline?: unknown
  readonly problems: readonly DocumentProblem[]
  readonly substituted: readonly SubstitutedVariable[]
  /** Where the value or key at a path stands; for what is missing, the nearest thing around it. */
  placeOf(path: Path, at?: 'key' | 'value'): Place
}

/** The configuration has 7 levels. The parser recurses: it must not be given what exhausts the stack. */
const deepest = 64

/** Lists grow with the installation, mappings do not: the largest one has some twenty keys, or headers. */
const mostKeys = 1_000

/** Parses YAML 1.2 (so JSON too), puts the environment in (undefined: there is none), and remembers where everything stood. */
export function readYaml(text: string, env: Environment | undefined): ConfigDocument {
  const { documents, excess } = parse(text)
  const lines = linesOf(text)
  const place = (offset: number): Place => {
    const { line, col } = lines.linePos(offset)
    return { line, column: col }
  }
  const broken = (offset: number, problem: Objection & { readonly path: Path }): ConfigDocument => ({
    value: undefined,
    outline: outlineOf(documents[0]?.contents),
    problems: [{ ...place(offset), ...problem }],
    substituted: [],
    placeOf: () => place(offset),
  })

  const [document, second] = documents
  if (excess !== undefined) {
    const path = lastBegun(document?.contents, excess.offset).slice(0, 1)
    return broken(excess.offset, { path, ...excess.objection })
  }
  const [error] = [...(document?.errors ?? [])].sort((a, b) => a.pos[0] - b.pos[0])
  if (error !== undefined) {
    const [offset] = error.pos
    const line = text.split('\n')[place(offset).line - 1] ?? ''
    return broken(offset, { path: lastBegun(document?.contents, offset), ...syntaxProblem(error, line) })
  }
  if (second !== undefined) {
    const hint = 'leave out --- and what follows, or give it a file of its own'
    return broken(second.range[0], { path: [], message: 'a second document begins here, only one is possible', hint })
  }

  const found = plainValue(document?.contents ?? null, env)
  return {
    value: found.value ?? {},
    problems: found.problems.map(({ offset, ...problem }) => ({ ...problem, ...place(offset) })),
    substituted: found.substituted,
    placeOf(path, at = 'value') {
      for (let length = path.length; length > 0; length--) {
        const offsets = found.offsets.get(formatPath(path.slice(0, length)))
        if (offsets !== undefined) return place(at === 'key' && length === path.length ? offsets.key : offsets.value)
      }
      return place(document?.contents?.range[0] ?? 0)
    },
  }
}

/** Texts, and lists of texts, of the outermost mapping. */
function outlineOf(contents: ParsedNode | null | undefined): unknown {
  if (!isMap<ParsedNode, ParsedNode | null>(contents)) return undefined
  const entries = contents.items.flatMap(({ key, value }) => {
    const read = isSeq<ParsedNode | null>(value) ? value.items.map(textOf) : textOf(value)
    const name = textOf(key)
    return name === undefined || read === undefined ? [] : [[name, read] as const]
  })
  return Object.fromEntries(entries)
}

const textOf = (node: unknown): string | undefined =>
  isScalar(node) && typeof node.value === 'string' ? node.value : undefined

/** Where lines begin. What the parser itself tells of them lacks some once it has met an error. */
function linesOf(text: string): LineCounter {
  const lines = new LineCounter()
  lines.addNewLine(0)
  for (const { index } of text.matchAll(/\n/g)) lines.addNewLine(index + 1)
  return lines
}

interface Parsed {
  readonly documents: readonly Document.Parsed[]
  /** Where it went beyond a limit; what follows is not in the documents. */
  readonly excess: { readonly offset: number; readonly objection: Objection } | undefined
}

const tooDeep: Objection = {
  message: `is nested deeper than ${deepest} levels`,
  hint: 'nothing here is: is a bracket left open?',
}
const tooWide: Objection = {
  message: `is or holds a mapping of more than ${mostKeys} keys`,
  hint: 'nothing here is: is it the right file?',
}

function excessOf({ stack }: Parser): Objection | undefined {
  if (stack.length > deepest) return tooDeep
  const top = stack.at(-1)
  const isMapping = top?.type === 'block-map' || (top?.type === 'flow-collection' && top.start.source === '{')
  return isMapping && top.items.length > mostKeys ? tooWide : undefined
}

/** Reads up to the end of the second document: only one is possible, and each costs. */
function parse(text: string): Parsed {
  const parser = new Parser()
  const composer = new Composer({ uniqueKeys: false, resolveKnownTags: false, logLevel: 'silent' })
  const documents: Document.Parsed[] = []
  const take = (tokens: Iterable<CST.Token>): void => {
    for (const token of tokens) documents.push(...composer.next(token))
  }
  let excess: Parsed['excess']
  for (const lexeme of new Lexer().lex(text)) {
    take(parser.next(lexeme))
    const objection = excessOf(parser)
    if (objection !== undefined) excess = { offset: parser.offset, objection }
    if (excess !== undefined || documents.length > 1) break
  }
  take(parser.end())
  documents.push(...composer.end(true, text.length))
  return { documents, excess }
}
