import fc from 'fast-check'
import { parse, stringify } from 'yaml'
import type { Content } from './example-configurations.ts'
import { type TreeChange, treeChange, treeWith } from './value-mutations.ts'

/* Changes to the text of a configuration, as people, templates and incomplete writes make them. */

const within = fc.nat({ max: 10_000 })
/** Text that has a meaning in YAML, or looks similar. */
const pieces = [
  ...['[', '{', '}', ']', ':', ': ', '- ', '"', "'", '? ', '|\n', '>', '\t', '\n', '\r', '#', ' #', '~', '%', ', '],
  '---\n',
  ...['&a ', '*a', '!!int ', '!', '<<: *a\n', '__proto__: ', 'constructor: ', '${', `\${A`, `\${A:-}`, '$${', '@', '`'],
  ...['\0', '\u2028', '\ufeff', '\ud800', '1e999', '.nan', '.inf', '0x', '-0', '99999999999999999999', '1_000', 'yes'],
]
/** A YAML bomb: its aliases expand to 10^9 strings. */
const bomb = [
  'l0: &l0 [x, x, x, x, x, x, x, x, x, x]',
  ...Array.from({ length: 8 }, (_, level) => `l${level + 1}: &l${level + 1} [${`*l${level}, `.repeat(9)}*l${level}]`),
].join('\n')

const textChange = fc.oneof(
  fc.record({ kind: fc.constant('cut' as const), at: within }),
  fc.record({ kind: fc.constant('drop' as const), at: within, length: fc.integer({ min: 1, max: 40 }) }),
  fc.record({
    ...{ kind: fc.constant('put' as const), at: within },
    text: fc.oneof(fc.constantFrom(...pieces), fc.string({ unit: 'binary', maxLength: 8 })),
  }),
  fc.record({ kind: fc.constant('move line' as const), at: within, to: within }),
  fc.record({ kind: fc.constant('repeat line' as const), at: within, to: within }),
  fc.record({
    kind: fc.constant('indent' as const),
    at: within,
    by: fc.constantFrom('', ' ', '  ', '\t', ' \t', '\u00a0'),
  }),
  fc.record({ kind: fc.constant('multiply' as const), at: within }),
  fc.record({ kind: fc.constant('nest' as const), at: within, depth: fc.constantFrom(7, 70, 5_000) }),
)
type TextChange = typeof textChange extends fc.Arbitrary<infer Change> ? Change : never

function textWith(text: string, change: TextChange): string {
  const at = change.at % (text.length + 1)
  const lines = text.split('\n')
  const line = change.at % lines.length
  switch (change.kind) {
    case 'cut':
      return text.slice(0, at)
    case 'drop':
      return text.slice(0, at) + text.slice(at + change.length)
    case 'put':
      return text.slice(0, at) + change.text + text.slice(at)
    case 'nest':
      return text.slice(0, at) + '['.repeat(change.depth) + text.slice(at)
    case 'move line': {
      const [moved = ''] = lines.splice(line, 1)
      return lines.toSpliced(change.to % (lines.length + 1), 0, moved).join('\n')
    }
    case 'repeat line':
      return lines.toSpliced(change.to % (lines.length + 1), 0, lines[line] ?? '').join('\n')
    case 'indent':
      return lines.with(line, `${change.by}${lines[line]?.trimStart()}`).join('\n')
    case 'multiply':
      return lines.toSpliced(line, 0, bomb).join('\n')
  }
}

const encoding = fc.oneof(
  { weight: 12, arbitrary: fc.constant('utf-8' as const) },
  fc.constantFrom(
    'utf-8 with a mark' as const,
    'utf-16' as const,
    'latin1' as const,
    'with a byte that is none' as const,
  ),
)

function bytesOf(text: string, how: typeof encoding extends fc.Arbitrary<infer How> ? How : never): Content {
  switch (how) {
    case 'utf-8':
      return text
    case 'utf-8 with a mark':
      return `\ufeff${text}`
    case 'utf-16':
      return Buffer.from(`\ufeff${text}`, 'utf16le')
    case 'latin1':
      return Buffer.from(text, 'latin1')
    case 'with a byte that is none':
      return Buffer.concat([Buffer.from(text), Buffer.of(0xff)])
  }
}

interface Changes {
  readonly tree: readonly TreeChange[]
  readonly text: readonly TextChange[]
  readonly as: 'yaml' | 'json'
  readonly encoding: typeof encoding extends fc.Arbitrary<infer How> ? How : never
}

export const changes: fc.Arbitrary<Changes> = fc
  .record({
    tree: fc.array(treeChange, { maxLength: 2 }),
    text: fc.oneof(fc.constant([]), fc.array(textChange, { maxLength: 3 })),
    as: fc.constantFrom('yaml', 'json'),
    encoding,
  })
  .filter(({ tree, text, encoding: how }) => tree.length + text.length > 0 || how !== 'utf-8')

/** Applies all changes to a configuration. Changes in `tree` remove the comments and the style. */
export function changed(text: string, { tree, text: edits, as, encoding: how }: Changes): Content {
  const rewritten = tree.length === 0 ? text : writtenAs(as, tree.reduce(treeWith, parse(text)))
  return bytesOf(edits.reduce(textWith, rewritten), how)
}

function writtenAs(as: 'yaml' | 'json', tree: unknown): string {
  return as === 'json' ? JSON.stringify(tree, undefined, 1) : stringify(tree, { aliasDuplicateObjects: false })
}
