import { SyntaxKind } from 'typescript/unstable/ast'
import { createScanner } from 'typescript/unstable/ast/scanner'

/*
 * The prose of a file: its text with all code blanked out, so that lines stay where they are. The
 * scanner is an unstable API of TypeScript, so package.json has an exact version. swc, which
 * transpiles the tests, does not return comments.
 */

/** Replaces each character of code between two texts. */
const mark = '¦'
const blank = (code: string): string => code.replaceAll(/\S/g, mark)
/** A code span is a word of its sentence, so it keeps its quotes. */
const withoutCodeSpans = (text: string): string =>
  text.replaceAll(/`[^`\n]+`/g, span => span.replaceAll(/[^\s`]/g, '_'))

/**
 * A Markdown page without examples, code spans, link targets and the blocks that a tool writes
 * (`<!-- name -->`). The texts of these blocks are strings of the tool's code, and the table of an
 * old run keeps the wording of its time.
 */
export const proseOfPage = (text: string): string =>
  withoutCodeSpans(
    text.replaceAll(/^( *)```.*?^\1```$/gms, blank).replaceAll(/<!-- (\w+) -->.*?<!-- end of \1 -->/gs, blank),
  ).replaceAll(/\]\([^)]*\)/g, blank)

/** The comments of a YAML file. A `#` that begins a comment follows white space. */
export const proseOfYaml = (text: string): string =>
  text.replaceAll(/^.*$/gm, line => {
    const at = line.search(/(?<!\S)#/)
    return at < 0 ? blank(line) : `${blank(line.slice(0, at))} ${withoutCodeSpans(line.slice(at + 1))}`
  })

/**
 * Tokens that end a value: a slash after one of them divides, and does not begin a regular
 * expression.
 */
const valueEnds: ReadonlySet<SyntaxKind> = new Set([
  ...[SyntaxKind.Identifier, SyntaxKind.ThisKeyword, SyntaxKind.NumericLiteral, SyntaxKind.StringLiteral],
  ...[SyntaxKind.NoSubstitutionTemplateLiteral, SyntaxKind.TemplateTail, SyntaxKind.RegularExpressionLiteral],
  ...[SyntaxKind.CloseParenToken, SyntaxKind.CloseBracketToken, SyntaxKind.CloseBraceToken],
])
const strings: ReadonlySet<SyntaxKind> = new Set([
  ...[SyntaxKind.StringLiteral, SyntaxKind.NoSubstitutionTemplateLiteral],
  ...[SyntaxKind.TemplateHead, SyntaxKind.TemplateMiddle, SyntaxKind.TemplateTail],
])

/** The comments of a TypeScript file and, if asked for, its strings of more than one word. */
export function proseOfTypeScript(text: string, hasUserFacingStrings: boolean): string {
  const scanner = createScanner(false, undefined, text)
  const prose: string[] = []
  /** Open braces within each open template expression. */
  const templates: number[] = []
  let previous = SyntaxKind.Unknown
  for (let kind = scanner.scan(); kind !== SyntaxKind.EndOfFile; kind = scanner.scan()) {
    if (kind === SyntaxKind.SlashToken || kind === SyntaxKind.SlashEqualsToken) {
      if (!valueEnds.has(previous)) kind = scanner.reScanSlashToken()
    } else if (kind === SyntaxKind.CloseBraceToken && templates.at(-1) === 0) {
      kind = scanner.reScanTemplateToken(false)
      if (kind === SyntaxKind.TemplateTail) templates.pop()
    } else if (kind === SyntaxKind.TemplateHead) templates.push(0)
    else if (kind === SyntaxKind.OpenBraceToken) addTo(templates, 1)
    else if (kind === SyntaxKind.CloseBraceToken) addTo(templates, -1)

    const token = scanner.getTokenText()
    if (isComment(kind)) prose.push(proseOfComment(token))
    else if (hasUserFacingStrings && strings.has(kind)) prose.push(proseOfString(token))
    else prose.push(blank(token))
    if (!isComment(kind) && !/^\s*$/.test(token)) previous = kind
  }
  return prose.join('')
}

function addTo(counts: number[], change: number): void {
  const last = counts.at(-1)
  if (last !== undefined) counts[counts.length - 1] = last + change
}

const isComment = (kind: SyntaxKind): boolean =>
  kind === SyntaxKind.SingleLineCommentTrivia || kind === SyntaxKind.MultiLineCommentTrivia

/** White space replaces the delimiters, so consecutive lines of `//` form one text. */
const proseOfComment = (comment: string): string =>
  withoutCodeSpans(
    comment.replaceAll(/^\/\/|^\/\*+|\*+\/$|^[ \t]*\*(?!\/)/gm, delimiter => delimiter.replaceAll(/\S/g, ' ')),
  )

/** A string of one word is a name, not prose. */
function proseOfString(literal: string): string {
  const content = literal.replaceAll(/^['"`}]|(?:\$\{|['"`])$/g, mark)
  return /\s/.test(content) ? withoutCodeSpans(content.replaceAll('\\n', '  ').replaceAll('\\`', ' `')) : blank(literal)
}
