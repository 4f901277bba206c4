import { placeholderDestination } from '../delivery/route.ts'
import type { EncryptionKey } from '../encryption-key.ts'
import type { EntryContext } from '../settings/given-entries.ts'
import type { SettingsProblem } from '../settings/problem.ts'
import { id as idField } from '../settings/value-types.ts'
import type { ObjectDocument } from './config-objects.ts'
import { decodeValue, type ObjectName } from './object-record.ts'
import { openDocument } from './sealed-document.ts'
import { type ParsedObject, validateObject } from './validate-object.ts'

/** An object of the config topic, as far as this process can read it. */
export interface ReadObject extends ObjectName {
  /**
   * The source or destination that is added to the settings. When `problems` is not empty, it is a
   * placeholder: a destination whose messages wait, or a source without write keys whose stored
   * events are still routed.
   */
  readonly parsed: ParsedObject
  readonly problems: readonly SettingsProblem[]
  /** The document in plain text; a secret that cannot be opened is masked. */
  readonly document: ObjectDocument
  /** Whether a secret was encrypted with another key than the first encryption key. */
  readonly hasOldSeal: boolean
}

export interface ReadingContext {
  readonly keys: readonly EncryptionKey[]
  readonly context: EntryContext
}

/**
 * Decodes the value of a record, decrypts its secrets, and checks the document. Takes about 0.1 ms.
 */
export function readObject({ kind, id }: ObjectName, value: string, { keys, context }: ReadingContext): ReadObject {
  const name = { kind, id }
  const decoded = decodeValue(value)
  if (decoded.kind === 'unreadable') {
    const problem = { path: [], message: decoded.detail, hint: 'update this process to the newest version of Hookline' }
    const nothing = { document: { id }, hasOldSeal: false }
    return { ...name, ...nothing, parsed: placeholder(name, {}), problems: [problem] }
  }
  const { document, problems, keyIds } = openDocument(name, decoded.document, keys)
  const hasOldSeal = [...keyIds].some(keyId => keyId !== keys[0]?.id)
  if (problems.length > 0) return { ...name, parsed: placeholder(name, document), problems, document, hasOldSeal }
  const validated = validateObject(kind, id, document, context)
  return validated.kind === 'valid'
    ? { ...name, parsed: validated.object, problems, document, hasOldSeal }
    : { ...name, parsed: placeholder(name, document), problems: validated.problems, document, hasOldSeal }
}

function placeholder({ kind, id }: ObjectName, document: ObjectDocument): ParsedObject {
  if (kind === 'source') return { kind, source: { id, writeKeys: [] } }
  const sources = document['sources']
  const valid = Array.isArray(sources) ? sources.filter(source => idField.safeParse(source).success) : []
  return { kind, destination: { ...placeholderDestination(id, [...new Set<string>(valid)]), ...enabledIn(document) } }
}

/**
 * Returns `enabled: false` for a disabled destination. Its placeholder must be disabled too, so
 * that no messages wait for it.
 */
const enabledIn = (document: ObjectDocument): { enabled: false } | object =>
  document['enabled'] === false ? { enabled: false } : {}
