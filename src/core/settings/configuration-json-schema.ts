import { z } from 'zod'
import { configuration } from './schema-of-configuration.ts'
import type { Path } from './settings-problem.ts'

interface Node {
  readonly description?: string
  readonly properties?: Readonly<Record<string, Node>>
  readonly items?: Node
  readonly anyOf?: readonly Node[]
  readonly additionalProperties?: Node | boolean
}

const plain = z.toJSONSchema(configuration, { io: 'input', target: 'draft-2020-12' }) as Node

/** The keys of the mapping at a path, in the order of the schema. */
export function keysAt(path: Path): readonly string[] {
  let node: Node | undefined = plain
  for (const part of path) node = typeof part === 'number' ? node?.items : node?.properties?.[part]
  return Object.keys(node?.properties ?? {})
}

function namesIn({ properties = {}, items, anyOf = [], additionalProperties }: Node): string[] {
  const values = typeof additionalProperties === 'object' ? [additionalProperties] : []
  const within = [...(items === undefined ? Object.values(properties) : [items]), ...anyOf, ...values]
  return [...Object.keys(properties), ...within.flatMap(namesIn)]
}

/** Every key of the schema, at any level. */
export const keyNames: ReadonlySet<string> = new Set(namesIn(plain))

/**
 * Returns the first sentence of the description of the key, or of its nearest parent that has a
 * description. A description that explains each value begins with a backtick, and is returned as a
 * whole. The first letter is lower case, because callers put other text before the result.
 */
export function meaningAt(path: Path): string {
  let node: Node | undefined = plain
  let meaning = 'see the configuration reference'
  for (const part of path) {
    node = typeof part === 'number' ? node?.items : node?.properties?.[part]
    meaning = node?.description ?? meaning
  }
  const [sentence = ''] = meaning.startsWith('`') ? [meaning] : meaning.split(/\. (?=[A-Z`])/)
  return sentence.replace(/\.$/, '').replace(/^[A-Z](?=[a-z]*\b)/, letter => letter.toLowerCase())
}

const environment = 'environment'

/**
 * The JSON Schema (draft 2020-12) of the configuration file. It allows `${VARIABLE}` instead of any
 * scalar.
 */
export function configurationJsonSchema(): object {
  const schema = z.toJSONSchema(configuration, {
    io: 'input',
    target: 'draft-2020-12',
    override: ({ jsonSchema }) => {
      const { description, default: standard, ...rule } = jsonSchema
      if (!rejectsVariable(rule)) return
      for (const key of Object.keys(jsonSchema)) delete jsonSchema[key]
      if (description !== undefined) jsonSchema.description = description
      if (standard !== undefined) jsonSchema.default = standard
      jsonSchema.anyOf = [rule, { $ref: `#/$defs/${environment}` }]
    },
  })
  return {
    ...schema,
    $defs: {
      [environment]: {
        description: `Text with \${VARIABLE}, which Hookline replaces with the value of this environment variable. With \${VARIABLE:-default}, Hookline uses the text "default" if the variable is empty or not set.`,
        type: 'string',
        pattern: String.raw`\$\{[A-Za-z_][A-Za-z0-9_]*(:-[^}]*)?\}`,
      },
    },
  }
}

/**
 * Whether a schema would reject the text `${VARIABLE}`, although the configuration file may contain
 * this text instead of a scalar, or instead of a whole list of scalars.
 */
function rejectsVariable({ type, pattern, enum: choice, items }: Readonly<Record<string, unknown>>): boolean {
  if (type === 'string') return pattern !== undefined || choice !== undefined
  if (type === 'array') return (items as { type?: unknown }).type !== 'object'
  return type === 'integer' || type === 'number' || type === 'boolean'
}
