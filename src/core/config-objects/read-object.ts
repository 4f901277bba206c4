import { placeholderOfEntry } from '../delivery/invalid-destination-placeholder.ts'
import type { EncryptionKey } from '../encryption-key.ts'
import type { EntryContext } from '../settings/entries-as-written.ts'
import type { SettingsProblem } from '../settings/settings-problem.ts'
import { id as idField } from '../settings/value-types.ts'
import type { ObjectDocument } from './config-objects.ts'
import { decodeValue, type ObjectName, type ObjectRecord } from './object-record.ts'
import { openDocument } from './sealed-document.ts'
import { type ParsedObject, validateObject } from './validate-object.ts'

/** An object of the config topic, as far as this process can read it. */
export interface ReadObject extends ObjectName {
  /**
   * If `problems` is not empty, a placeholder: a destination whose messages wait, or a source
   * without write keys.
   */
  readonly parsed: ParsedObject
  readonly problems: readonly SettingsProblem[]
  /** The document in plain text; a secret that cannot be decrypted is masked. */
  readonly document: ObjectDocument
  /**
   * Whether a secret is encrypted with an old key, not with the first key of
   * `operator.encryptionKeyFile`.
   */
  readonly hasOldSeal: boolean
  /**
   * For each write key of a source, in document order: the offset of the record that added the key.
   * `undefined` until this process has read the record from the topic.
   */
  readonly keyOffsets: readonly (number | undefined)[]
}

export interface ReadingContext {
  readonly keys: readonly EncryptionKey[]
  readonly context: EntryContext
}

/** Decodes the value of a record, decrypts its secrets, and checks the document. */
export function readObject(
  record: ObjectName & Pick<ObjectRecord, 'offset' | 'keyOffsets' | 'createdAt'>,
  value: string,
  { keys, context }: ReadingContext,
): ReadObject {
  const { kind, id } = record
  const name = { kind, id }
  const decoded = decodeValue(value)
  if (decoded.kind !== 'document') {
    const problem = { path: [], message: decoded.detail, hint: hints[decoded.kind] }
    const nothing = { document: { id }, hasOldSeal: false, keyOffsets: [] }
    return { ...name, ...nothing, parsed: placeholder(name, {}), problems: [problem] }
  }
  const { document, problems, keyIds } = openDocument(name, decoded.document, keys)
  const hasOldSeal = [...keyIds].some(keyId => keyId !== keys[0]?.id)
  const read = { ...name, document, hasOldSeal, keyOffsets: keyOffsetsOf(document, record) }
  if (problems.length > 0) return { ...read, parsed: placeholder(name, document), problems }
  const validated = validateObject(kind, id, document, context)
  return validated.kind === 'valid'
    ? { ...read, parsed: withCreation(validated.object, record), problems }
    : { ...read, parsed: placeholder(name, document), problems: validated.problems }
}

const withCreation = (parsed: ParsedObject, { createdAt }: Pick<ObjectRecord, 'createdAt'>): ParsedObject =>
  parsed.kind === 'destination' && createdAt !== undefined
    ? { ...parsed, destination: { ...parsed.destination, createdAt } }
    : parsed

const hints = {
  unknown_format: 'update all processes of Hookline to the newest version',
  damaged: 'write the whole object again, with its secrets, through the operator API, or delete the object',
}

/** The write keys of a source as its document has them: one value, or a list. */
export const writeKeysIn = ({ writeKey }: ObjectDocument): readonly unknown[] =>
  writeKey === undefined ? [] : [writeKey].flat()

const keyOffsetsOf = (document: ObjectDocument, { offset, keyOffsets }: Pick<ObjectRecord, 'offset' | 'keyOffsets'>) =>
  writeKeysIn(document).map((_, index) => keyOffsets?.[index] ?? offset)

function placeholder({ kind, id }: ObjectName, document: ObjectDocument): ParsedObject {
  if (kind === 'source') return { kind, source: { id, writeKeys: [] } }
  const sources = document['sources']
  const valid = Array.isArray(sources) ? sources.filter(source => idField.safeParse(source).success) : []
  return { kind, destination: placeholderOfEntry(id, [...new Set<string>(valid)], document) }
}
