import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

/** The registry does not have the schema with which Hookline writes records. */
export class SchemaNotRegistered extends Error {
  override readonly name = 'SchemaNotRegistered'
  readonly code = 'schema_not_registered'
}

/** The registry subject of a topic's values (TopicNameStrategy). */
export const subjectOf = (topic: string): string => `${topic}-value`

const require = createRequire(import.meta.url)
/** Returns one of Hookline's schemas as `hookline schemas register` registers it. */
export const readSchemaText = (file: string): string =>
  JSON.stringify(JSON.parse(readFileSync(require.resolve(`#schemas/${file}.avsc`), 'utf8')))
