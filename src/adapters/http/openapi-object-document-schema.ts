import { z } from 'zod'
import type { Schema } from './openapi-basic-schemas.ts'

/**
 * The schema of a destination or source in the operator API: the schema of the configuration file
 * without the keys that name files. `id` is optional, because the path of the request has it.
 */
export function documentSchema(entry: z.ZodType): Schema {
  const { $schema: _, ...schema } = z.toJSONSchema(entry, { io: 'input', target: 'draft-2020-12' })
  const { required, ...rest } = withoutFiles(schema) as Schema & { readonly required?: readonly string[] }
  return { ...rest, required: required?.filter(name => name !== 'id') }
}

const namesFile = (key: string): boolean => key === 'file' || key.endsWith('File')

/**
 * Removes the keys that name files, at all depths. Also removes the texts about these keys from the
 * descriptions.
 */
function withoutFiles(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.filter(each => !each?.properties?.file).map(withoutFiles)
  if (typeof schema !== 'object' || schema === null) return schema
  const kept = Object.entries(schema).map(([key, value]) => {
    if (key === 'properties') return [key, withoutFiles(withoutKeys(value))]
    return [key, key === 'description' && typeof value === 'string' ? withoutFileTexts(value) : withoutFiles(value)]
  })
  return Object.fromEntries(kept)
}

const withoutKeys = (properties: object): object =>
  Object.fromEntries(Object.entries(properties).filter(([key]) => !namesFile(key)))

const withoutFileTexts = (description: string): string =>
  description.replace(/ Alternatively, set `\w+File`\.| or `\w+File`|, or `\{ file: NAME \}` for a file .+?(?=\.)/g, '')
