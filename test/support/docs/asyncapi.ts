import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import ajvModule from 'ajv'
import { parse } from 'yaml'
import { checkout } from './pages.ts'

/**
 * A part of the AsyncAPI document. The caller casts texts and lists, because this type has only
 * objects.
 */
export interface Json {
  readonly [name: string]: Json
}

export const read = (path: string): string => readFileSync(join(checkout, path), 'utf8')
export const document = parse(read('schemas/asyncapi.yaml')) as Json
export const ajv = new ajvModule.Ajv({ logger: false, strict: false, allErrors: true })

export const at = (pointer: string): Json | undefined =>
  pointer
    .replace(/^#\//, '')
    .split('/')
    .reduce<Json | undefined>((node, name) => node?.[name], document)

export const messageOf = (name: string): Json => at(`#/components/messages/${name}`) as Json
