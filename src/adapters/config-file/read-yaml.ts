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
import type { Objection } from '../../core/objection.ts'
import { keyNames } from '../../core/settings/json-schema.ts'
import { formatPath, type Path } from '../../core/settings/problem.ts'
import type { Environment } from './environment.ts'
import { plainValue, type SubstitutedVariable } from './plain-value.ts'

/** Converts a YAML syntax error to a problem. `line` is the text of the line with the error. */
export function syntaxProblem(error: YAMLError, line: string): Objection {
  return { message: syntaxText(error), hint: syntaxHint(error, line) }
}

/**
 * The parser's message without the parts that quote the source, because they may contain a secret.
 */
function syntaxText({ code, message }: YAMLError): string {
  const said = ownTexts[code] ?? message
  const text = said
    .replace(/ token in YAML stream: .*/s, '')
    .replace(/(escape sequence|reserved character) .*/s, '$1')
    .replace('"quote', 'quote')
    .replace(
      /^Nested mappings are not allowed .*/,
      'a colon with a space after it makes this text a key, which is not allowed here',
    )
    .replace(/: .*/s, '')
  return `is not valid YAML: ${text.charAt(0).toLowerCase()}${text.slice(1)}`
}

/** Replacements for parser messages that quote the source in their middle. */
const ownTexts: Partial<Record<YAMLError['code'], string>> = {
  BAD_DIRECTIVE: 'a directive (a line that begins with %) cannot be used here',
  TAG_RESOLVE_FAILED: 'a tag (!…) cannot be used here',
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
    case 'BAD_DIRECTIVE':
      return 'remove the line'
    case 'TAG_RESOLVE_FAILED':
      return 'remove the tag, or put the text in quotes'
    case 'BAD_INDENT':
      return 'start all entries of one mapping or list at the same column'
    default:
      return /[[{,]/.test(line.slice(0, Math.max(0, line.lastIndexOf('${'))))
        ? `between { } or [ ], write \${…} in quotes`
        : 'check the quotes, brackets, colons and indentation here and just before'
  }
}

/**
 * The path of the last key or list element that starts at or before an offset. It is the one with
 * the error, or the one next to the error. The path ends before a key that the configuration does
 * not have, because after a syntax error the parser may read values, even secrets, as keys.
 */
export function pathBefore(contents: ParsedNode | null | undefined, offset: number): Path {
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

/** A problem in one document. The path is empty when the problem concerns the whole document. */
export interface DocumentProblem extends Place {
  readonly path: Path
  readonly message: string
  readonly hint: string
}

export interface ConfigDocument {
  /**
   * The plain values, with environment variables replaced. For an empty document, an empty mapping.
   * `undefined` when the document cannot be parsed.
   */
  readonly value: unknown
  /**
   * Only for a document that cannot be parsed: the strings and lists of strings in its outermost
   * mapping, as far as the parser could read them.
   */
  readonly outline?: unknown
  readonly problems: readonly DocumentProblem[]
  readonly substituted: readonly SubstitutedVariable[]
  /**
   * The position of the value or key at a path. For a missing path, the position of the nearest
   * enclosing value.
   */
  placeOf(path: Path, at?: 'key' | 'value'): Place
}

/**
 * Maximum levels of nesting. The configuration has 7. The parser recurses, so a document with very
 * many levels could exhaust the stack.
 */
const maxDepth = 64

/**
 * Maximum keys in one mapping. Only lists grow with an installation: the largest mapping has about
 * twenty keys or headers.
 */
const maxKeys = 1_000

/**
 * Parses YAML 1.2, which includes JSON, replaces environment variables, and records the position of
 * each value. With `env` undefined, variables are not allowed.
 */
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
    const path = pathBefore(document?.contents, excess.offset).slice(0, 1)
    return broken(excess.offset, { path, ...excess.objection })
  }
  const [error] = [...(document?.errors ?? [])].sort((a, b) => a.pos[0] - b.pos[0])
  if (error !== undefined) {
    const [offset] = error.pos
    const line = text.split('\n')[place(offset).line - 1] ?? ''
    return broken(offset, { path: pathBefore(document?.contents, offset), ...syntaxProblem(error, line) })
  }
  if (second !== undefined) {
    const hint = 'remove --- and the text after it, or move that text to another file'
    const message = 'a second YAML document starts here; only one is allowed'
    return broken(second.range[0], { path: [], message, hint })
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

/** The strings and lists of strings in the outermost mapping. */
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
  /** Where the text exceeds a limit. The rest of the text is not in `documents`. */
  readonly excess: { readonly offset: number; readonly objection: Objection } | undefined
}

const tooDeep: Objection = {
  message: `is nested deeper than ${maxDepth} levels`,
  hint: 'check for a bracket that is not closed',
}
const tooWide: Objection = {
  message: `is or contains a mapping with more than ${maxKeys} keys`,
  hint: 'check that this is the right file',
}

function excessOf({ stack }: Parser): Objection | undefined {
  if (stack.length > maxDepth) return tooDeep
  const top = stack.at(-1)
  const isMapping = top?.type === 'block-map' || (top?.type === 'flow-collection' && top.start.source === '{')
  return isMapping && top.items.length > maxKeys ? tooWide : undefined
}

/** Parses at most two documents. The second one causes an error; further ones would cost time. */
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
