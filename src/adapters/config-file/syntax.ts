import { isMap, isScalar, isSeq, type ParsedNode, type YAMLError } from 'yaml'
import { keyNames } from '../../core/settings/json-schema.ts'
import type { Objection, Path } from '../../core/settings/problem.ts'

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
