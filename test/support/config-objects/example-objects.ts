import { createHash } from 'node:crypto'
import type { ObjectDocument, ObjectKind } from '../../../src/core/config-objects/config-objects.ts'
import { encodeValue, type ObjectName, type ObjectRecord } from '../../../src/core/config-objects/object-record.ts'
import { sealDocument } from '../../../src/core/config-objects/sealed-document.ts'
import { type EncryptionKey, parseEncryptionKey } from '../../../src/core/encryption-key.ts'
import { Secret } from '../../../src/core/secret.ts'
import type { Settings } from '../../../src/core/settings/settings.ts'
import { draftFrom, settingsFrom } from '../../../src/core/settings/validate.ts'
import { start } from '../builders.ts'

/** The content of a key file, derived from the name. */
export const keyFile = (name: string): string => createHash('sha256').update(name).digest('base64')

export function encryptionKey(name: string): EncryptionKey {
  const parsed = parseEncryptionKey(keyFile(name))
  if (parsed.kind !== 'key') throw new Error(parsed.message)
  return parsed.key
}

export const firstKey = encryptionKey('first')
export const secondKey = encryptionKey('second')

let nonces = 0
/** Creates nonces that never repeat within a process. */
export function newNonce(): Buffer {
  const nonce = Buffer.alloc(12)
  nonce.writeUInt32BE(++nonces, 8)
  return nonce
}

export const destinationDocument = (given: ObjectDocument = {}): ObjectDocument => ({
  sources: ['web'],
  sharedSecret: 'shared-secret-of-the-crm',
  webhooks: [
    {
      url: 'https://hooks.example.com/path-of-the-crm',
      headers: { Authorization: 'Bearer token-of-the-crm' },
    },
  ],
  ...given,
})

export const sourceDocument = (given: ObjectDocument = {}): ObjectDocument => ({
  writeKey: 'write-key-of-the-app',
  ...given,
})

export const objectRecord = (given: Partial<ObjectRecord> = {}): ObjectRecord => ({
  kind: 'destination',
  id: 'crm',
  version: 1,
  action: 'created',
  by: 'ada',
  at: start,
  fields: [],
  writeId: `write-${given.version ?? 1}`,
  copy: 0,
  value: given.action === 'deleted' ? undefined : '{}',
  ...given,
})

/** The value of a record with this document, whose secrets are sealed. */
export const sealedValue = (name: ObjectName, document: ObjectDocument, key = firstKey): string =>
  encodeValue(sealDocument(name, { id: name.id, ...document }, key, newNonce))

/**
 * The settings of a file with the source `web`, the destination `file-crm` and an encryption key.
 */
export function fileSettings(given: object = {}): Settings {
  const draft = draftFrom({
    kafka: { brokers: ['kafka:9092'] },
    registry: { url: 'http://registry:8081' },
    operator: { keys: [{ name: 'ada', role: 'operate', key: 'operator-key-of-ada' }] },
    sources: [{ id: 'web', writeKey: 'write-key-of-web' }],
    destinations: [{ id: 'file-crm', sources: ['web'], webhooks: [{ url: 'https://file.example.com/' }] }],
    ...given,
  })
  const result = settingsFrom(draft, new Map())
  if (result.kind === 'refused') throw new Error(JSON.stringify(result.problems))
  const { operator } = result.settings
  const encryptionKeys = [new Secret(keyFile('first'))]
  return { ...result.settings, operator: { ...operator, encryptionKeys }, configTopic: true }
}

export const named = (kind: ObjectKind, id: string): ObjectName => ({ kind, id })
