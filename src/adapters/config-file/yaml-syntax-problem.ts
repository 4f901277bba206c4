import type { YAMLError } from 'yaml'
import type { Objection } from '../../core/invalid-value-message-and-hint.ts'

/** Converts a YAML syntax error. `line` is the text of the line with the error. */
export function syntaxProblem(error: YAMLError, line: string): Objection {
  return { message: syntaxText(error), hint: syntaxHint(error, line) }
}

/** The parser's message without quoted YAML text, which may contain a secret. */
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

/**
 * These texts replace parser messages from which `syntaxText` cannot remove the quoted YAML text.
 */
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
      return 'start all entries of one mapping or list at the same column, and close each bracket'
    default:
      return /[[{,]/.test(line.slice(0, Math.max(0, line.lastIndexOf('${'))))
        ? `between { } or [ ], write \${…} in quotes`
        : 'check the quotes, brackets, colons and indentation here and just before'
  }
}
