import { z } from 'zod'
import { liveKeys } from '../../../src/core/settings/differences.ts'
import { duration, id } from '../../../src/core/settings/fields.ts'
import { configuration } from '../../../src/core/settings/schema.ts'
import { code, madeFrom, plain, table } from './markdown.ts'
import { configurationRules } from './rules.ts'

interface Node {
  readonly type?: string
  readonly description?: string
  readonly default?: unknown
  readonly enum?: readonly string[]
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly properties?: Readonly<Record<string, Node>>
  readonly required?: readonly string[]
  readonly items?: Node
  readonly additionalProperties?: Node | boolean
  readonly anyOf?: readonly Node[]
}

const jsonSchema = (schema: z.ZodType): Node => z.toJSONSchema(schema, { io: 'input' }) as Node
const schema = jsonSchema(configuration)

/** Forms of text that have a name of their own. */
const forms = new Map([
  [jsonSchema(duration).pattern, 'duration'],
  [jsonSchema(id).pattern, 'id'],
])

const head = `# Configuration

One YAML (or JSON) file, named by \`--config\` or \`HOOKLINE_CONFIG\`. ${madeFrom('the schema in `src/core/settings/schema.ts`')}

- \`deploy/local/hookline.yaml\` is a commented example. \`schemas/config.schema.json\` is the same for editors: \`# yaml-language-server: $schema=…\` in the first line.
- \`npx hookline check-config\` tells everything that is wrong, by file, line, column and key, with a hint. An unknown key is a mistake.
- **Live**: taken over within five seconds of saving, in every process. **Restart**: read at the start; a change is told in the log and waits.
  A file with a mistake is refused whole, and what ran before goes on; a bad file of \`destinationsFrom\` is left out, and everything else is in use.
  With \`destinationsFrom\`, a destination that audiences or the canary name and no file has is held, and everything else is in use.
- \`\${NAME}\` and \`\${NAME:-default}\` are put in from the environment, in any value but those of files in \`destinationsFrom\`; \`$\${\` is a literal \`\${\`. A list of texts may be one variable, cut at its commas.
- Every secret can be given as itself or, under the key with \`File\`, as the name of a file that holds it; a line break at the file's end does not count. Names of files are relative to the
  configuration file, in a file of \`destinationsFrom\` to its directory. A changed file is a changed configuration.
- A process reads only the files that its services need, and the others may be absent: the collector those of \`sources\`, \`operator\` and \`collector\`, the dispatcher those of
  \`destinations\` and \`network\`, and every process those of \`kafka\` and \`registry\`. So do \`check-config\` and \`doctor\` with \`--services\`. Other commands read those of \`kafka\` and
  \`registry\`, \`send\` the collector's too, \`preview\` the dispatcher's.
- \`KAFKA_BROKERS\` and \`SCHEMA_REGISTRY_URL\` in the environment beat \`kafka.brokers\` and \`registry.url\`.
- A duration is a whole number with \`ms\`, \`s\`, \`m\` or \`h\`. An id is 1 to 63 letters, digits, \`.\`, \`_\` or \`-\`, begins with a letter or digit, and not with \`hookline.\`.
`

/** `docs/reference/configuration.md` */
export function configurationText(): string {
  const sections = Object.entries(schema.properties ?? {}).filter(([key]) => key !== '$schema')
  const rules = `## Rules across keys\nWhat one value alone does not show. Each is told at the key that is at fault.\n\n${Object.values(
    configurationRules,
  )
    .map(rule => `- ${rule}`)
    .join('\n')}\n`
  return [head, ...sections.map(([key, node]) => sectionOf(key, node)), rules].join('\n')
}

function sectionOf(key: string, node: Node): string {
  const isRequired = schema.required?.includes(key) ?? false
  const rows = rowsOf(node, key, isRequired)
  const effect = isLive(key) ? 'Live.' : 'Restart.'
  // A mapping's own row would say nothing, and the heading of anything else what its row says.
  const isMapping = node.type === 'object'
  const said = isMapping ? [plain(node.description ?? ''), effect, ...(isRequired ? ['Required.'] : [])] : [effect]
  const shown = isMapping ? rows.slice(1) : rows
  return `## ${key}\n${said.join(' ')}\n\n${table(['key', 'type', 'default', ''], shown)}\n`
}

/** What the files of `destinationsFrom` hold are destinations. */
const isLive = (key: string): boolean => key === 'destinationsFrom' || liveKeys.some(live => live === key)

function rowsOf(node: Node, path: string, isRequired: boolean): readonly (readonly string[])[] {
  const own = [code(path), typeOf(node), defaultOf(node, isRequired), plain(node.description ?? '')]
  const inside = node.items?.properties === undefined ? node : node.items
  const prefix = inside === node ? path : `${path}[]`
  const members = Object.entries(inside.properties ?? {}).flatMap(([key, member]) =>
    rowsOf(member, `${prefix}.${key}`, inside.required?.includes(key) ?? false),
  )
  return [own, ...members]
}

function typeOf(node: Node): string {
  const { type, anyOf, items, pattern, additionalProperties } = node
  if (anyOf !== undefined) return anyOf.map(typeOf).join(', or ')
  if (node.enum !== undefined) return node.enum.map(code).join(', ')
  switch (type) {
    case 'array':
      return `list${bounds(node.minItems, node.maxItems)} of ${pluralOf(items ?? {})}`
    case 'object':
      return typeof additionalProperties === 'object' ? 'mapping of texts' : 'mapping'
    case 'integer':
      return `whole number${bounds(node.minimum, node.maximum)}`
    case 'number':
      return `number${bounds(node.minimum, node.maximum)}`
    case 'boolean':
      return '`true`, `false`'
    default:
      return forms.get(pattern) ?? 'text'
  }
}

const pluralOf = (node: Node): string => `${typeOf(node)}s`.replace(/\bwhole number(.*)s$/, 'whole numbers$1')

/** What zod takes for no bound is none. */
function bounds(least = 0, most = Number.MAX_SAFE_INTEGER): string {
  if (most < Number.MAX_SAFE_INTEGER) return ` (${least} to ${most.toLocaleString('en-US')})`
  return least > 0 ? ` (at least ${least})` : ''
}

function defaultOf(node: Node, isRequired: boolean): string {
  if (isRequired) return 'required'
  const standard = node.default
  if (standard === undefined || (node.type === 'object' && node.properties !== undefined)) return ''
  return code(Array.isArray(standard) ? `[${standard.map(textOf).join(', ')}]` : textOf(standard))
}

/** A default may have been parsed already. */
function textOf(value: unknown): string {
  if (typeof value === 'object') return JSON.stringify(value)
  return String(value)
}
