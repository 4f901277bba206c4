import { SyntaxKind } from 'typescript/unstable/ast'
import { createScanner } from 'typescript/unstable/ast/scanner'

/*
 * Returns the prose of a file: its text with all code blanked out. Line numbers stay the same. The
 * scanner of TypeScript finds the comments. This scanner is an unstable API, so package.json pins
 * an exact version of TypeScript. swc, which transpiles the tests, cannot replace it, because swc
 * does not return comments.
 */

/** The character that replaces each character of code. */
const mark = '¦'
const blank = (code: string): string => code.replaceAll(/\S/g, mark)
/**
 * Replaces the content of each code span, but keeps the quotes around the content. The sentence
 * around the code span then still has a word at this place.
 */
const withoutCodeSpans = (text: string): string =>
  text.replaceAll(/`[^`\n]+`/g, span => span.replaceAll(/[^\s`]/g, '_'))

/**
 * Returns a Markdown page without its examples, code spans, link targets and generated blocks
 * (`<!-- name -->`). A tool writes the generated blocks, and their texts are checked in the code of
 * this tool. The page may still have a block of an old run, with texts that the tool no longer
 * writes.
 */
export const proseOfPage = (text: string): string =>
  withoutCodeSpans(
    text.replaceAll(/^( *)```.*?^\1```$/gms, blank).replaceAll(/<!-- (\w+) -->.*?<!-- end of \1 -->/gs, blank),
  ).replaceAll(/\]\([^)]*\)/g, blank)

/** Returns the comments of a YAML file. The `#` of a comment follows white space. */
export const proseOfYaml = (text: string): string =>
  text.replaceAll(/^.*$/gm, line => {
    const at = line.search(/(?<!\S)#/)
    return at < 0 ? blank(line) : `${blank(line.slice(0, at))} ${withoutCodeSpans(line.slice(at + 1))}`
  })

/**
 * Tokens that end a value. A slash after one of them is a division. A slash after another token
 * begins a regular expression.
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

/**
 * Returns the comments of a TypeScript file. With `hasUserFacingStrings`, the result also has the
 * strings of more than one word.
 */
export function proseOfTypeScript(text: string, hasUserFacingStrings: boolean): string {
  const scanner = createScanner(false, undefined, text)
  const prose: string[] = []
  /**
   * Number of open braces in each open template expression, from the outermost to the innermost.
   */
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
 * Returns the text of a comment, with white space in place of the delimiters (for example `//`).
 * Consecutive `//` lines are then separated only by white space. So a check can also find a phrase
 * that continues on the next line.
 */
const proseOfComment = (comment: string): string =>
  withoutCodeSpans(
    comment.replaceAll(/^\/\/|^\/\*+|\*+\/$|^[ \t]*\*(?!\/)/gm, delimiter => delimiter.replaceAll(/\S/g, ' ')),
  )

/** Returns the text of a string. A string of one word is left out, because it is a name. */
function proseOfString(literal: string): string {
  const content = literal.replaceAll(/^['"`}]|(?:\$\{|['"`])$/g, mark)
  return /\s/.test(content) ? withoutCodeSpans(content.replaceAll('\\n', '  ').replaceAll('\\`', ' `')) : blank(literal)
}
