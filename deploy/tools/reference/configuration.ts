import { z } from 'zod'
import { configuration } from '../../../src/core/settings/schema-of-configuration.ts'
import { liveKeys } from '../../../src/core/settings/settings-change.ts'
import { duration, id } from '../../../src/core/settings/value-types.ts'
import { configurationRules } from './configuration-rules.ts'
import { code, generatedFrom, plain, table } from './markdown.ts'

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

/** The names of string formats, by their pattern. */
const forms = new Map([
  [jsonSchema(duration).pattern, 'duration'],
  [jsonSchema(id).pattern, 'id'],
])

const head = `# Configuration

Hookline reads its configuration from a YAML or JSON file. The option \`--config\` or the environment variable \`HOOKLINE_CONFIG\` has the path of this file. This page lists its keys. ${generatedFrom('the schema in `src/core/settings/schema-of-configuration.ts`')}

The descriptions use terms of the glossary about [messages](glossary.md#messages), [deliveries](glossary.md#deliveries), [retries](glossary.md#retries-and-dead-letters), [flow control](glossary.md#flow-control), [processes and the operator API](glossary.md#kafka-and-processes) and [audiences](glossary.md#audiences-and-deletions).

The configuration file:

- \`deploy/local/hookline.yaml\` is a commented example. \`schemas/config.schema.json\` is the JSON Schema for editors: write \`# yaml-language-server: $schema=\` and the path of this schema in the first line.
- \`npx hookline check-config\` lists the errors, each with file, line, column, key and hint. An unknown key is an error.
- A duration is a whole number with \`ms\`, \`s\`, \`m\` or \`h\`. An id has 1 to 63 characters: letters, digits, \`.\`, \`_\` and \`-\`. It starts with a letter or digit, but not with \`hookline.\`.
- Hookline replaces \`\${NAME}\` by the value of the environment variable \`NAME\`, and \`\${NAME:-default}\` by \`default\` if the variable is unset or empty. An unset variable without a default is an error. \`$\${\` is a literal \`\${\`. Files of [\`destinationsFrom\`](#destinationsfrom) cannot use variables.
- If a key requires a list of texts or numbers, Hookline splits the value of a variable at commas, for example in \`brokers: \${KAFKA_BROKERS}\`. If the key also permits a single text, as \`sharedSecret\` does, Hookline does not split the value.
- \`KAFKA_BROKERS\` and \`SCHEMA_REGISTRY_URL\` in the environment override \`kafka.brokers\` and \`registry.url\`.

Each section below has the word *Live* or *Restart*, which says when a change of a value applies. If this differs for a key, the description of the key says so:

- **Live**: every process applies a change within five seconds (\`canary\` and \`notices\`: ten seconds).
- **Restart**: a process reads the value only at its start. It logs a change of the value, and keeps the old value until its restart.

Errors have these effects:

- If the configuration file has an error, a running process keeps the previous configuration, and no process can start.
- If a file of \`destinationsFrom\` has an error, a process keeps the destination as in the last valid version of this file. If the file has not been valid since the process started, the deliveries of its destination wait. If, in addition, the process cannot read \`id\` or \`sources\` in this file, the destination [gets no new messages](../how-to/add-a-destination.md#directories-of-other-teams).
- If \`audiences.list\`, \`canary\` or \`notices\` names a destination that does not exist, the configuration file is invalid. Exception: processes use the file if the destination may come from a file of \`destinationsFrom\` or from the operator API (\`operator.encryptionKeyFile\`). This table shows what Hookline does until the destination exists:

  | the configuration has | until the destination exists |
  |---|---|
  | \`destinationsFrom\`, but not \`operator.encryptionKeyFile\` | Hookline treats the destination as paused: its audience changes, canary messages, notices and retries wait. \`check-config\` exits with code 2, and the alert [HooklineDestinationsExcluded](../runbooks/HooklineDestinationsExcluded.md) fires |
  | \`operator.encryptionKeyFile\`, with or without \`destinationsFrom\` | Hookline sends no audience changes to the destination, makes no notices for it, and dead-letters its canary messages after about two minutes |

Secrets:

- A secret can be set directly (\`sharedSecret\`) or, with the suffix \`File\` on its key, as the path of a file (\`sharedSecretFile\`). The private key in \`kafka.tls\`, the password of the proxy and the encryption key can be set only as files. Hookline ignores a line break at the end of the file. A change of the file counts as a change of the configuration.
- The path of the file is relative to the configuration file, or to the file of \`destinationsFrom\` that contains the path.
- A process reads only the files that its [services](glossary.md#kafka-and-processes) need. A command, too, reads only some files. The other files may be missing. This table shows the files that each service or command reads:

  | service or command | reads the files that these keys name |
  |---|---|
  | every service, and every command that reads the configuration | \`kafka\` and \`registry\` |
  | every service | \`operator.encryptionKeyFile\` |
  | the service \`collector\` | \`sources\` and \`collector\` |
  | the service \`dispatcher\` | \`destinations\` and \`network\` |
  | the service \`operator\` | \`destinations\`, \`network\` and \`operator\` |
  | the commands \`check-config\` and \`doctor\` | the same as the services that the option \`--services\` of the command selects (by default, all services) |
  | the command \`send\` | the same as the service \`collector\` |
  | the command \`preview\` | the same as the service \`dispatcher\` |
  | the commands \`replay\`, \`delete-user\`, \`audience\` and \`produce\`, and \`tail\` with \`--destination\` or \`--source\` | \`operator.encryptionKeyFile\` |
`

/** Returns the text of `docs/reference/configuration.md`. */
export function configurationText(): string {
  const sections = Object.entries(schema.properties ?? {}).filter(([key]) => key !== '$schema')
  const rules = `## Rules across keys\nThese rules concern several values. If a configuration violates a rule, it is invalid, and the error names the key.\n\n${Object.values(
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
  // A mapping's description is above the table. Any other key has its description in its row.
  const isMapping = node.type === 'object'
  const said = isMapping ? [plain(node.description ?? ''), effect, ...(isRequired ? ['Required.'] : [])] : [effect]
  const shown = isMapping ? rows.slice(1) : rows
  return `## ${key}\n${said.join(' ')}\n\n${table(['key', 'type', 'default', 'description'], shown)}\n`
}

/** Processes reload the files of `destinationsFrom` as they reload `destinations`. */
const isLive = (key: string): boolean => key === 'destinationsFrom' || liveKeys.some(live => live === key)

function rowsOf(node: Node, path: string, isRequired: boolean): readonly (readonly string[])[] {
  const own = [code(path), typeOf(node), defaultOf(node, isRequired), plain(node.description ?? '')]
  const items = node.items ?? node.anyOf?.find(each => each.items !== undefined)?.items
  const inside = items?.properties === undefined ? node : items
  const prefix = inside === node ? path : `${path}[]`
  const members = Object.entries(inside.properties ?? {}).flatMap(([key, member]) =>
    rowsOf(member, `${prefix}.${key}`, inside.required?.includes(key) ?? false),
  )
  return [own, ...members]
}

function typeOf(node: Node): string {
  const { type, anyOf, items, pattern, additionalProperties } = node
  if (anyOf !== undefined) {
    const names = anyOf.map(typeOf)
    const others = names.slice(0, -1).join(', or ')
    // `duration, or list of durations` becomes `duration, or list of these`.
    return names
      .map(name => (name.endsWith(` of ${others}`) ? `${name.slice(0, -others.length)}these` : name))
      .join(', or ')
  }
  if (node.enum !== undefined) return node.enum.map(code).join(', ')
  switch (type) {
    case 'array':
      return `list${bounds(node.minItems, node.maxItems)} of ${pluralOf(items ?? {})}`
    case 'object':
      return typeof additionalProperties === 'object' ? 'mapping of strings' : 'mapping'
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

/** Names of enums and unions have no plural. */
const pluralOf = (node: Node): string =>
  (node.enum ?? node.anyOf) === undefined
    ? `${typeOf(node)}s`.replace(/\bwhole number(.*)s$/, 'whole numbers$1')
    : typeOf(node)

/** zod represents a missing maximum by the largest safe integer. */
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

function textOf(value: unknown): string {
  if (typeof value === 'object') return JSON.stringify(value)
  return String(value)
}
