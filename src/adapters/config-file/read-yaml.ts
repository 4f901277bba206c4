import { Composer, type CST, type Document, Lexer, LineCounter, Parser } from 'yaml'
import { formatPath, type Objection, type Path } from '../../core/settings/problem.ts'
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
  readonly problems: readonly DocumentProblem[]
  readonly substituted: readonly Substituted[]
  /** Where the value or key at a path stands; for what is missing, the nearest thing around it. */
  placeOf(path: Path, at?: 'key' | 'value'): Place
}

/** The configuration has 7 levels. The parser recurses: it must not be given what exhausts the stack. */
const deepest = 64

/** Parses YAML 1.2 (so JSON too), puts the environment in, and remembers where everything stood. */
export function readYaml(text: string, env: Readonly<Record<string, string | undefined>>): ConfigDocument {
  const lines = linesOf(text)
  const place = (offset: number): Place => {
    const { line, col } = lines.linePos(offset)
    return { line, column: col }
  }
  const broken = (offset: number, problem: Objection & { readonly path: Path }): ConfigDocument => ({
    value: undefined,
    problems: [{ ...place(offset), ...problem }],
    substituted: [],
    placeOf: () => place(offset),
  })

  const { documents, tooDeepAt } = parse(text)
  const [document, second] = documents
  if (tooDeepAt !== undefined) {
    const path = lastBegun(document?.contents, tooDeepAt).slice(0, 1)
    const hint = 'nothing here is: is a bracket left open?'
    return broken(tooDeepAt, { path, message: `is nested deeper than ${deepest} levels`, hint })
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

/** Where lines begin. What the parser itself tells of them lacks some once it has met an error. */
function linesOf(text: string): LineCounter {
  const lines = new LineCounter()
  lines.addNewLine(0)
  for (const { index } of text.matchAll(/\n/g)) lines.addNewLine(index + 1)
  return lines
}

interface Parsed {
  readonly documents: readonly Document.Parsed[]
  /** Where it went deeper than it may; what follows is not in the documents. */
  readonly tooDeepAt: number | undefined
}

function parse(text: string): Parsed {
  const parser = new Parser()
  const tokens: CST.Token[] = []
  let tooDeepAt: number | undefined
  for (const lexeme of new Lexer().lex(text)) {
    tokens.push(...parser.next(lexeme))
    if (parser.stack.length > deepest) {
      tooDeepAt = parser.offset
      break
    }
  }
  tokens.push(...parser.end())
  const composer = new Composer({ uniqueKeys: false, resolveKnownTags: false, logLevel: 'silent' })
  return { documents: [...composer.compose(tokens, true, text.length)], tooDeepAt }
}
