import { Composer, type CST, type Document, Lexer, LineCounter, Parser, type YAMLError } from 'yaml'
import { formatPath, type Path } from '../../core/settings/problem.ts'
import { plainValue, type Substituted } from './plain-value.ts'

export interface Place {
  readonly line: number
  readonly column: number
}

/** A problem of one document; without a path when the form of the document itself is broken. */
export interface DocumentProblem extends Place {
  readonly path?: Path
  readonly message: string
  readonly hint?: string
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
  const lines = new LineCounter()
  const place = (offset: number): Place => {
    const { line, col } = lines.linePos(offset)
    return { line, column: col }
  }
  const broken = (offset: number, message: string, hint?: string): ConfigDocument => ({
    value: undefined,
    problems: [{ ...place(offset), message, ...(hint === undefined ? {} : { hint }) }],
    substituted: [],
    placeOf: () => place(offset),
  })

  const parsed = parse(text, lines)
  if (parsed.kind === 'too_deep') return broken(parsed.offset, `is nested deeper than ${deepest} levels`)
  const [document, second] = parsed.documents
  const [error] = [...(document?.errors ?? [])].sort((a, b) => a.pos[0] - b.pos[0])
  if (error !== undefined) {
    const { line } = place(error.pos[0])
    return broken(error.pos[0], syntaxText(error), syntaxHint(error, text.split('\n')[line - 1] ?? ''))
  }
  if (second !== undefined) return broken(second.range[0], 'a second document begins here, only one is possible')

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

type Parsed =
  | { readonly kind: 'parsed'; readonly documents: readonly Document.Parsed[] }
  | { readonly kind: 'too_deep'; readonly offset: number }

function parse(text: string, lines: LineCounter): Parsed {
  lines.addNewLine(0)
  const parser = new Parser(lines.addNewLine)
  const tokens: CST.Token[] = []
  for (const lexeme of new Lexer().lex(text)) {
    tokens.push(...parser.next(lexeme))
    if (parser.stack.length > deepest) return { kind: 'too_deep', offset: parser.offset }
  }
  tokens.push(...parser.end())
  const composer = new Composer({ uniqueKeys: false, resolveKnownTags: false, logLevel: 'silent' })
  return { kind: 'parsed', documents: [...composer.compose(tokens, true, text.length)] }
}

/** The parser's text without what it repeats of the source: that may be part of a secret. */
function syntaxText({ message }: YAMLError): string {
  const told = message
    .replace(/ token in YAML stream: .*/s, '')
    .replace(/(escape sequence|reserved character) .*/s, '$1')
    .replace('"quote', 'quote')
  return `is no valid YAML: ${told.charAt(0).toLowerCase()}${told.slice(1)}`
}

function syntaxHint({ code }: YAMLError, line: string): string | undefined {
  switch (code) {
    case 'TAB_AS_INDENT':
      return 'indent with spaces'
    case 'BAD_DQ_ESCAPE':
      return 'write \\\\ for a backslash, or use single quotes'
    case 'BAD_SCALAR_START':
    case 'BLOCK_AS_IMPLICIT_KEY':
      return 'put the text in quotes'
    default:
      return /[[{,].*\$\{/.test(line) ? `between { } or [ ] a \${…} has to stand in quotes` : undefined
  }
}
