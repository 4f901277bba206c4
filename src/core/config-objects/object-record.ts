import { isCount, isObject, jsonValueIn } from '../message/json.ts'
import type { OutgoingRecord, RecordHeaders } from '../ports.ts'
import { type EpochMs, epochMs } from '../time.ts'
import { type ObjectChange, type ObjectDocument, type ObjectKind, objectKinds } from './config-objects.ts'

/*
 * The records of the config topic:
 * - key: `destination/<id>`, `source/<id>` or `failures/<destination id>`
 * - value: JSON with the document, whose secrets are sealed (encrypted); none for a deletion
 * - headers: the other fields
 */

/** The number of the format of the values. A process excludes an object with an unknown format. */
const format = 1

/** All records are in this partition, so that all processes read the changes in one order. */
export const configPartition = 0

export interface ObjectName {
  readonly kind: ObjectKind
  readonly id: string
}

/**
 * What a record is about: an object, or the failures of a destination
 * (`destination-failure-record.ts`).
 */
export interface RecordName {
  readonly kind: ObjectKind | 'failures'
  readonly id: string
}

/** One record of the config topic: a new version of an object, or a copy of the current version. */
export interface ObjectRecord extends RecordName {
  readonly version: number
  readonly action: ObjectChange['action']
  readonly by: string
  readonly at: EpochMs
  readonly fields: readonly string[]
  /** Identifies the write, so that a process recognises its own records when it reads the topic. */
  readonly writeId: string
  /**
   * 0 for a change. A copy (`objects-from-topic.ts`) has the number of the previous copy plus 1.
   */
  readonly copy: number
  /** The JSON text of the value; `undefined` for a deletion. */
  readonly value: string | undefined
  /**
   * The offset of the record; for a copy, the offset of the record that it copies. Absent until the
   * record is read from the topic.
   */
  readonly offset?: number | undefined
  /**
   * For each write key of a source, in document order: the offset of the record that added the key.
   * `null` or absent if this record added the key.
   */
  readonly keyOffsets?: readonly (number | null)[] | undefined
  /**
   * When the object was created. Each further version copies the time, until the object is deleted.
   * Absent if an earlier version of Hookline wrote the object.
   */
  readonly createdAt?: EpochMs | undefined
}

/**
 * `unknown`: the key is not valid. `damaged`: a header is not valid, or the action does not fit the
 * value.
 */
export type DecodedRecord =
  | { readonly kind: 'record'; readonly record: ObjectRecord }
  | { readonly kind: 'damaged'; readonly name: RecordName; readonly detail: string }
  | { readonly kind: 'unknown'; readonly detail: string }

export const isObjectRecord = <R extends RecordName>(record: R): record is R & ObjectName => record.kind !== 'failures'

export const objectKeyOf = ({ kind, id }: RecordName): string => `${kind}/${id}`

/** Encodes a record for the producer. */
export function encodeRecord(record: ObjectRecord): OutgoingRecord & { readonly partition: number } {
  const { version, action, by, at, fields, writeId, copy, value, offset, keyOffsets, createdAt } = record
  return {
    key: Buffer.from(objectKeyOf(record)),
    value: value === undefined ? null : Buffer.from(value),
    partition: configPartition,
    headers: {
      version: String(version),
      'changed-by': by,
      'changed-at': new Date(at).toISOString(),
      action,
      fields: JSON.stringify(fields),
      write: writeId,
      ...(copy > 0 && { copy: String(copy) }),
      ...(copy > 0 && offset !== undefined && { offset: String(offset) }),
      ...(keyOffsets !== undefined && { 'key-offsets': JSON.stringify(keyOffsets) }),
      ...(createdAt !== undefined && { 'created-at': new Date(createdAt).toISOString() }),
    },
  }
}

/** Decodes the key and the headers of a record. */
export function decodeRecord(
  key: Buffer | null,
  value: Buffer | null,
  headers: RecordHeaders,
  offset?: number,
): DecodedRecord {
  const name = key === null ? undefined : nameOf(key.toString())
  if (name === undefined)
    return { kind: 'unknown', detail: 'the key of the record is not destination/<id>, source/<id> or failures/<id>' }
  const version = wholeNumber(headers['version'])
  const copy = wholeNumber(headers['copy'] ?? '0')
  const at = Date.parse(headers['changed-at'] ?? '')
  const action = actions.find(each => each === headers['action'])
  const fields = parseFields(headers['fields'])
  const writeId = headers['write'] ?? ''
  if (version === undefined || version < 1 || copy === undefined || Number.isNaN(at) || action === undefined)
    return {
      kind: 'damaged',
      name,
      detail: 'a header is invalid or missing: "version", "changed-at" and "action" are required, "copy" is optional',
    }
  if (writeId === '') return { kind: 'damaged', name, detail: 'the header "write" is missing' }
  if ((value === null) !== (action === 'deleted'))
    return {
      kind: 'damaged',
      name,
      detail: `the header "action" is "${action}", so the value ${value === null ? 'must not' : 'must'} be null`,
    }
  const record: ObjectRecord = {
    ...name,
    version,
    action,
    by: headers['changed-by'] ?? '',
    at: epochMs(at),
    fields,
    writeId,
    copy,
    value: value?.toString(),
    offset: (copy > 0 ? wholeNumber(headers['offset']) : undefined) ?? offset,
    keyOffsets: parseKeyOffsets(headers['key-offsets']),
    createdAt: parseTime(headers['created-at']),
  }
  return { kind: 'record', record }
}

const actions = ['created', 'updated', 'deleted'] as const

const recordKinds = [...objectKinds, 'failures'] as const

function nameOf(key: string): RecordName | undefined {
  const slash = key.indexOf('/')
  const kind = recordKinds.find(each => each === key.slice(0, slash))
  const id = key.slice(slash + 1)
  return slash < 0 || kind === undefined || id === '' ? undefined : { kind, id }
}

const wholeNumber = (text = ''): number | undefined => (/^\d{1,15}$/.test(text) ? Number(text) : undefined)

function parseTime(text = ''): EpochMs | undefined {
  const at = Date.parse(text)
  return Number.isNaN(at) ? undefined : epochMs(at)
}

function parseFields(text = '[]'): readonly string[] {
  const parsed = jsonValueIn(text)
  return Array.isArray(parsed) ? parsed.filter(each => typeof each === 'string') : []
}

function parseKeyOffsets(text: string | undefined): ObjectRecord['keyOffsets'] {
  const parsed = text === undefined ? undefined : jsonValueIn(text)
  const isOffset = (each: unknown) => each === null || isCount(each)
  return Array.isArray(parsed) && parsed.every(isOffset) ? parsed : undefined
}

export const encodeValue = (document: ObjectDocument): string => JSON.stringify({ format, document })

/**
 * `unknown_format`: another version of Hookline may have written the value. `damaged`: the value is
 * not valid in any version of Hookline.
 */
export type DecodedDocument =
  | { readonly kind: 'document'; readonly document: ObjectDocument }
  | { readonly kind: 'unknown_format' | 'damaged'; readonly detail: string }

export function decodeValue(value: string): DecodedDocument {
  const parsed = jsonValueIn(value)
  if (parsed === undefined) return damaged('the value is not JSON')
  if (!isObject(parsed)) return damaged('the value is not a JSON object')
  const { format: found, document } = parsed
  if (typeof found !== 'number') return damaged('the field "format" of the value is missing or not a number')
  if (found !== format)
    return {
      kind: 'unknown_format',
      detail: `has a value of format ${found} in the config topic, but this version of Hookline reads only format ${format}`,
    }
  return isObject(document)
    ? { kind: 'document', document }
    : damaged('the value has no JSON object in the key "document"')
}

const damaged = (why: string): DecodedDocument => ({
  kind: 'damaged',
  detail: `has a damaged value in the config topic: ${why}`,
})
