import { createPrivateKey, X509Certificate } from 'node:crypto'
import { parseEncryptionKey } from '../encryption-key.ts'
import type { Objection } from '../invalid-value-message-and-hint.ts'
import { refuseUrl } from '../network/url.ts'
import { refuseSigningKey } from '../signing/ed25519-signing-key.ts'
import type { Pruned } from './check-against-schema.ts'
import type { ConfigurationInput } from './schema-of-configuration.ts'
import type { ServiceName } from './service-names.ts'
import { type Path, valueAt } from './settings-problem.ts'
import { type FileKind, fileSettings, matchingPaths } from './settings-that-name-files.ts'

/** A file that the configuration names. `name` is the file name as it is in the configuration. */
export interface NamedFile {
  readonly path: Path
  readonly name: string
  readonly holds: FileKind
}

export type FileContent =
  | { readonly kind: 'read'; readonly text: string }
  /** `message` continues a sentence about the file, for example `does not exist`. */
  | (Objection & { readonly kind: 'unreadable' })

/** A file that was not read, because no service of this process needs it. */
export const notNeeded = { kind: 'not_needed' } as const

export type NamedFileState = FileContent | typeof notNeeded

/** The contents of the files, by `NamedFile.name`. */
export type FileContents = ReadonlyMap<string, NamedFileState>

export function namedFiles(config: Pruned<ConfigurationInput>): readonly NamedFile[] {
  return fileSettings.flatMap(([setting, holds]) =>
    matchingPaths(config, setting)
      .flatMap(path => {
        const names = valueAt(config, path)
        return Array.isArray(names) ? [...names.keys()].map(index => [...path, index]) : [path]
      })
      .flatMap(path => {
        const name = valueAt(config, path)
        return typeof name === 'string' ? [{ path, name, holds }] : []
      }),
  )
}

/**
 * The services that need the files under a top-level key. Every process needs the files under other
 * keys.
 */
const servicesByKey: Readonly<Record<string, readonly ServiceName[]>> = {
  sources: ['collector'],
  collector: ['collector'],
  operator: ['operator'],
  // The operator service needs the files of both keys to send test messages and to publish public
  // keys.
  destinations: ['dispatcher', 'operator'],
  network: ['dispatcher', 'operator'],
}

const encryptionKeyPath: Path = ['operator', 'encryptionKeyFile']
/**
 * Whether a path names the encryption key of the config topic. Every process that reads this topic
 * needs the key.
 */
const isEncryptionKey = (path: Path): boolean => encryptionKeyPath.every((part, index) => path[index] === part)

/**
 * `config_topic`: a command that reads the config topic. It needs only the encryption keys, and the
 * files that every process needs.
 */
export type FileReader = ServiceName | 'config_topic'

/**
 * Returns the services that need a file. The configuration key at `path` names this file.
 * `undefined` if every process needs it.
 */
export function servicesThatNeed(path: Path): readonly ServiceName[] | undefined {
  const [key = ''] = path
  return Object.hasOwn(servicesByKey, key) && !isEncryptionKey(path) ? servicesByKey[key] : undefined
}

/** Whether a process with these `readers` needs the file that the configuration key names. */
export function isNeeded(path: Path, readers: ReadonlySet<FileReader>): boolean {
  if (isEncryptionKey(path)) return readers.size > 0
  const services = servicesThatNeed(path)
  return services === undefined || services.some(service => readers.has(service))
}

/** The secret without the line end that editors and `echo` add. */
export function secretIn(content: string): string {
  return content.replace(/\r?\n$/, '')
}

/** The secret in a file; `undefined` when the file is empty, unread or unreadable. */
export function secretFrom(name: string | undefined, files: FileContents): string | undefined {
  const content = name === undefined ? undefined : files.get(name)
  return content?.kind === 'read' ? secretIn(content.text) || undefined : undefined
}

/** Why the content of a file is not usable; `undefined` if the content is usable or not needed. */
export function contentProblem(content: NamedFileState | undefined, holds: FileKind): Objection | undefined {
  if (content === undefined) throw new Error('bug in Hookline: it did not read a file that the configuration names')
  if (content.kind === 'not_needed') return undefined
  if (content.kind === 'unreadable') return content
  switch (holds) {
    case 'secret':
      return secretIn(content.text) === ''
        ? { message: 'is empty', hint: 'write the secret into this file' }
        : undefined
    case 'url': {
      const refusal = refuseUrl(secretIn(content.text))
      return refusal === undefined
        ? undefined
        : { message: `contains no usable URL: its content ${refusal}`, hint: 'write only the URL into this file' }
    }
    case 'signing_key':
      return refuseSigningKey(secretIn(content.text))
    case 'certificates':
      return refuseCertificates(content.text)
    case 'encryption_key': {
      const parsed = parseEncryptionKey(content.text)
      return parsed.kind === 'refused' ? { message: parsed.message, hint: parsed.hint } : undefined
    }
    case 'key': {
      const hint =
        'use a PEM private key without a passphrase, for example one that begins with -----BEGIN PRIVATE KEY-----'
      const message = 'contains no PEM private key, or only one with a passphrase'
      return parses(() => createPrivateKey(content.text)) ? undefined : { message, hint }
    }
  }
}

/**
 * Matches the position after each PEM certificate. OpenSSL also reads certificates with the labels
 * TRUSTED and X509.
 */
const afterCertificate = /(?<=-----END (?:TRUSTED |X509 )?CERTIFICATE-----[^\n]*\n)/

/**
 * Returns a problem if a certificate, or the text before or after it, cannot be parsed: TLS
 * libraries may silently skip a damaged certificate.
 */
function refuseCertificates(text: string): Objection | undefined {
  if (!text.includes('-----BEGIN CERTIFICATE-----'))
    return {
      message: 'contains no PEM certificate',
      hint: 'use PEM: each certificate begins with -----BEGIN CERTIFICATE-----',
    }
  const parts = text.split(afterCertificate)
  const rest = parts.at(-1)!.includes('CERTIFICATE-----') ? '' : parts.pop()!
  const bad = parts.findIndex(part => !parses(() => new X509Certificate(part)))
  if (bad < 0) {
    // The parser ignores text after the first certificate. To check `rest`, place it in front of a
    // certificate, and parse both together.
    if (parses(() => new X509Certificate(`${rest}\n${parts[0]}`))) return undefined
    const hint = 'if this text is a part of a private key, add the missing part; otherwise, remove the text'
    return { message: 'has text after its last PEM certificate, and this text cannot be parsed', hint }
  }
  const message = `contains a PEM certificate (number ${bad + 1} of ${parts.length}) that cannot be parsed`
  const hint =
    'check that -----BEGIN CERTIFICATE----- is at the start of its line; if it is, copy only this certificate into a new file, and check the file with `openssl x509 -text`'
  return { message, hint }
}

/** Whether a private key belongs to a certificate. */
export function keyFits(certificate: string, key: string): boolean {
  return new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key))
}

/** The size of a private RSA key in bits; `undefined` for a key of another type. */
export function rsaBitsOf(key: string): number | undefined {
  return createPrivateKey(key).asymmetricKeyDetails?.modulusLength
}

function parses(parse: () => unknown): boolean {
  try {
    parse()
    return true
  } catch {
    return false
  }
}
