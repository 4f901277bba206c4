import type { EncryptionKey } from '../encryption-key.ts'
import { mask } from '../secret.ts'
import { formatPath, type SettingsProblem } from '../settings/settings-problem.ts'
import type { ObjectDocument } from './config-objects.ts'
import { withSecrets } from './find-and-replace-secrets.ts'
import type { ObjectName } from './object-record.ts'
import { type NewNonce, open, seal } from './seal.ts'

export interface OpenedDocument {
  /** The document with its secrets in plain text. A secret that cannot be decrypted is masked. */
  readonly document: ObjectDocument
  /** One problem for each secret that cannot be decrypted. */
  readonly problems: readonly SettingsProblem[]
  /** The ids of the encryption keys with which the secrets in the document were encrypted. */
  readonly keyIds: ReadonlySet<string>
}

/** Decrypts all secrets of a document that was read from the config topic. */
export function openDocument(
  { kind, id }: ObjectName,
  sealed: ObjectDocument,
  keys: readonly EncryptionKey[],
): OpenedDocument {
  const problems: SettingsProblem[] = []
  const keyIds = new Set<string>()
  const document = withSecrets(kind, sealed, ({ path, value }) => {
    const opened = open(value, keys, { kind, id, path: formatPath(path) })
    if (opened.kind !== 'damaged') keyIds.add(opened.keyId)
    switch (opened.kind) {
      case 'opened':
        return opened.text
      case 'key_missing':
        problems.push({
          path,
          message: `is encrypted with a key that is not in operator.encryptionKeyFile of this process (id of the key: ${opened.keyId})`,
          hint: missingHint,
        })
        return mask
      case 'damaged':
        problems.push({
          path,
          message: 'cannot be decrypted: the value is damaged, or was encrypted for another field or object',
          hint: damagedHint,
        })
        return mask
    }
  })
  return { document, problems, keyIds }
}

const missingHint =
  'add the path of the file with the missing key to the list in operator.encryptionKeyFile, or write the secret again through the operator API'
const damagedHint = 'write the secret again through the operator API'

/** Encrypts (seals) all secrets of a document with one key. Every secret must be text. */
export function sealDocument(
  { kind, id }: ObjectName,
  document: ObjectDocument,
  key: EncryptionKey,
  newNonce: NewNonce,
): ObjectDocument {
  return withSecrets(kind, document, ({ path, value }) => {
    if (typeof value !== 'string') throw new TypeError(`${formatPath(path)} is not text`)
    return seal(value, key, { kind, id, path: formatPath(path) }, newNonce)
  })
}
