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
import { formatPath, type Objection, type Path } from '../../core/settings/problem.ts'
import type { Environment } from './environment.ts'
import { plainValue, type Substituted } from './plain-value.ts'
import { lastBegun, syntaxProblem } from './syntax.ts'

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
  readonly substituted: readonly Substituted[]
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
