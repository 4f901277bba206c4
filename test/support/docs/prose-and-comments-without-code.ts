import { SyntaxKind } from 'typescript/unstable/ast'
import { createScanner } from 'typescript/unstable/ast/scanner'

/*
 * These functions blank out code without a change of line numbers. TypeScript's scanner has an
 * unstable API, so package.json pins an exact version.
 */

/** Replaces each character of code. */
const mark = '¦'
const blank = (code: string): string => code.replaceAll(/\S/g, mark)
/** Replaces the content of code spans by underscores, which a check treats as a word. */
const withoutCodeSpans = (text: string): string =>
  text.replaceAll(/`[^`\n]+`/g, span => span.replaceAll(/[^\s`]/g, '_'))

/**
 * Blanks out examples, code spans, link targets, and generated blocks, which are checked in the
 * code that writes them.
 */
export const proseOfPage = (text: string): string =>
  withoutCodeSpans(
    text.replaceAll(/^( *)```.*?^\1```$/gms, blank).replaceAll(/<!-- (\w+) -->.*?<!-- end of \1 -->/gs, blank),
  ).replaceAll(/\]\([^)]*\)/g, blank)

/** Returns the comments of a YAML file. */
export const proseOfYaml = (text: string): string =>
  text.replaceAll(/^.*$/gm, line => {
    const at = line.search(/(?<!\S)#/)
    return at < 0 ? blank(line) : `${blank(line.slice(0, at))} ${withoutCodeSpans(line.slice(at + 1))}`
  })

/**
 * After these tokens, a slash is a division. After any other token, it begins a regular expression.
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

/** Returns the comments, and with `hasUserFacingStrings` also the strings of more than one word. */
export function proseOfTypeScript(text: string, hasUserFacingStrings: boolean): string {
  const scanner = createScanner(false, undefined, text)
  const prose: string[] = []
  /** Number of open braces in each open template expression, outermost first. */
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

/**
 * Replaces the delimiters by spaces, so that a check finds a phrase that continues on the next
 * line.
 */
const proseOfComment = (comment: string): string =>
  withoutCodeSpans(
    comment.replaceAll(/^\/\/|^\/\*+|\*+\/$|^[ \t]*\*(?!\/)/gm, delimiter => delimiter.replaceAll(/\S/g, ' ')),
  )

/** Leaves out a string of one word, because it is a name. */
function proseOfString(literal: string): string {
  const content = literal.replaceAll(/^['"`}]|(?:\$\{|['"`])$/g, mark)
  return /\s/.test(content) ? withoutCodeSpans(content.replaceAll('\\n', '  ').replaceAll('\\`', ' `')) : blank(literal)
}
