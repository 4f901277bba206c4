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
} from 'yaml'
import type { Objection } from '../../core/invalid-value-message-and-hint.ts'
import { formatPath, type Path } from '../../core/settings/settings-problem.ts'
import type { CountToken } from './directory-limits.ts'
import type { Environment } from './environment-substitution.ts'
import { pathBefore } from './yaml-path-before-offset.ts'
import { syntaxProblem } from './yaml-syntax-problem.ts'
import { plainValue, type TextWithVariables } from './yaml-to-plain-value.ts'

export interface Place {
  readonly line: number
  readonly column: number
}

/** The path is empty when the problem concerns the whole document. */
export interface DocumentProblem extends Place {
  readonly path: Path
  readonly message: string
  readonly hint: string
}

export interface ConfigDocument {
  /**
   * The plain values, with environment variables replaced. `undefined` when the document cannot be
   * parsed.
   */
  readonly value: unknown
  /**
   * Only for a document that cannot be parsed: the strings and lists of strings in its outermost
   * mapping, for example the id of a destination.
   */
  readonly outline?: unknown
  readonly problems: readonly DocumentProblem[]
  readonly substituted: readonly TextWithVariables[]
  /**
   * The position of the value or key at a path. If the document has nothing at this path, the
   * position of the nearest enclosing value.
   */
  placeOf(path: Path, at?: 'key' | 'value'): Place
}

/**
 * Maximum levels of nesting. The parser recurses, so more levels could exhaust the stack. A valid
 * configuration has at most 7.
 */
const maxDepth = 64

/** Maximum keys in one mapping. The largest valid mapping has about twenty. */
const maxKeys = 1_000

/**
 * Parses YAML 1.2, which includes JSON, and records the position of each value. Without `env`,
 * variables are not allowed. Parsing stops when `countToken` returns an objection.
 */
export function readYaml(text: string, env: Environment | undefined, countToken?: CountToken): ConfigDocument {
  // Parse at most two documents: a second document is already an error.
  const { documents, excess } = parse(text, 2, countToken)
  const lines = linesOf(text)
  const [document, second] = documents
  const error = errorIn(document, excess, text, lines)
  if (error !== undefined) return error
  if (second !== undefined) {
    const hint = 'remove "---" and the text after it, or move that text to another file'
    const message = 'a second YAML document starts here; only one is allowed'
    return broken(document, lines, second.range[0], { path: [], message, hint })
  }
  return toConfigDocument(document, lines, env)
}

/** Parses any number of YAML documents as `readYaml` parses one. Empty documents are left out. */
export function readYamlStream(text: string, env: Environment): readonly ConfigDocument[] {
  const { documents, excess } = parse(text, Number.POSITIVE_INFINITY)
  const lines = linesOf(text)
  return documents.flatMap((document, index) => {
    const isLast = index === documents.length - 1
    const error = errorIn(document, isLast ? excess : undefined, text, lines)
    if (error !== undefined) return [error]
    const isEmpty = document.contents === null || (isScalar(document.contents) && document.contents.value === null)
    return isEmpty ? [] : [toConfigDocument(document, lines, env)]
  })
}

const placeIn = (lines: LineCounter, offset: number): Place => {
  const { line, col } = lines.linePos(offset)
  return { line, column: col }
}

function broken(
  document: Document.Parsed | undefined,
  lines: LineCounter,
  offset: number,
  problem: Objection & { readonly path: Path },
): ConfigDocument {
  const place = placeIn(lines, offset)
  return {
    value: undefined,
    outline: outlineOf(document?.contents),
    problems: [{ ...place, ...problem }],
    substituted: [],
    placeOf: () => place,
  }
}

/** The first syntax error of the document, or the limit that it exceeds. */
function errorIn(
  document: Document.Parsed | undefined,
  excess: Parsed['excess'],
  text: string,
  lines: LineCounter,
): ConfigDocument | undefined {
  if (excess !== undefined) {
    const path = pathBefore(document?.contents, excess.offset).slice(0, 1)
    return broken(document, lines, excess.offset, { path, ...excess.objection })
  }
  const [error] = [...(document?.errors ?? [])].sort((a, b) => a.pos[0] - b.pos[0])
  if (error === undefined) return undefined
  const [offset] = error.pos
  const line = text.split('\n')[placeIn(lines, offset).line - 1] ?? ''
  return broken(document, lines, offset, {
    path: pathBefore(document?.contents, offset),
    ...syntaxProblem(error, line),
  })
}

function toConfigDocument(
  document: Document.Parsed | undefined,
  lines: LineCounter,
  env: Environment | undefined,
): ConfigDocument {
  const found = plainValue(document?.contents ?? null, env)
  return {
    value: found.value ?? {},
    problems: found.problems.map(({ offset, ...problem }) => ({ ...problem, ...placeIn(lines, offset) })),
    substituted: found.substituted,
    placeOf(path, at = 'value') {
      for (let length = path.length; length > 0; length--) {
        const offsets = found.offsets.get(formatPath(path.slice(0, length)))
        if (offsets !== undefined)
          return placeIn(lines, at === 'key' && length === path.length ? offsets.key : offsets.value)
      }
      return placeIn(lines, document?.contents?.range[0] ?? 0)
    },
  }
}

/**
 * The strings and lists of strings in the outermost mapping of a document with syntax errors, for
 * example the id of a destination.
 */
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

/**
 * The offsets at which lines start. The parser's own line counter misses some lines after an error.
 */
function linesOf(text: string): LineCounter {
  const lines = new LineCounter()
  lines.addNewLine(0)
  for (const { index } of text.matchAll(/\n/g)) lines.addNewLine(index + 1)
  return lines
}

interface Parsed {
  readonly documents: readonly Document.Parsed[]
  /**
   * The first place at which the text exceeds a limit of nesting, keys or tokens. Parsing stops
   * there, so `documents` lacks the text after this place.
   */
  readonly excess: { readonly offset: number; readonly objection: Objection } | undefined
}

const tooDeep: Objection = {
  message: `is nested deeper than ${maxDepth} levels`,
  hint: 'check for a bracket that is not closed',
}
const tooWide: Objection = {
  message: `has more than ${maxKeys} keys in one mapping`,
  hint: 'check that this is the right file',
}

function excessOf({ stack }: Parser): Objection | undefined {
  if (stack.length > maxDepth) return tooDeep
  const top = stack.at(-1)
  const isMapping = top?.type === 'block-map' || (top?.type === 'flow-collection' && top.start.source === '{')
  return isMapping && top.items.length > maxKeys ? tooWide : undefined
}

function parse(text: string, limit: number, countToken?: CountToken): Parsed {
  const parser = new Parser()
  const composer = new Composer({ uniqueKeys: false, resolveKnownTags: false, logLevel: 'silent' })
  const documents: Document.Parsed[] = []
  const take = (tokens: Iterable<CST.Token>): void => {
    for (const token of tokens) documents.push(...composer.next(token))
  }
  let excess: Parsed['excess']
  for (const lexeme of new Lexer().lex(text)) {
    take(parser.next(lexeme))
    const objection = excessOf(parser) ?? countToken?.()
    if (objection !== undefined) excess = { offset: parser.offset, objection }
    if (excess !== undefined || documents.length >= limit) break
  }
  take(parser.end())
  documents.push(...composer.end(true, text.length))
  return { documents, excess }
}
