import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

/** The error when the registry does not have the schema with which Hookline writes records. */
export class SchemaNotRegistered extends Error {
  override readonly name = 'SchemaNotRegistered'
  readonly code = 'schema_not_registered'
}

/** The registry subject of a topic's values, by Confluent's default naming (TopicNameStrategy). */
export const subjectOf = (topic: string): string => `${topic}-value`

const require = createRequire(import.meta.url)
/**
 * Reads one of Hookline's schemas from the folder `schemas/` of the running package. Returns the
 * text that `hookline schemas register` registers.
 */
export const readSchemaText = (file: string): string =>
  JSON.stringify(JSON.parse(readFileSync(require.resolve(`#schemas/${file}.avsc`), 'utf8')))
