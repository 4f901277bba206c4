import { createPrivateKey, X509Certificate } from 'node:crypto'
import { refuseUrl } from '../network/url.ts'
import type { Objection } from '../units.ts'
import { type Path, valueAt } from './problem.ts'
import type { ConfigurationInput } from './schema.ts'
import type { Pruned } from './shape.ts'

export type Holds = 'secret' | 'url' | 'certificates' | 'key'

/** A file that the configuration names, as it names it. */
export interface NamedFile {
  readonly path: Path
  readonly name: string
  readonly holds: Holds
}

export type FileContent =
  | { readonly kind: 'read'; readonly text: string }
  /** The message follows the name: `does not exist`. */
  | (Objection & { readonly kind: 'unreadable' })

/** Of a file that no service of this process needs: it has not been looked at. */
export const notNeeded = { kind: 'not_needed' } as const

export type SeenFile = FileContent | typeof notNeeded

/** By name, as the configuration has it. */
export type FileContents = ReadonlyMap<string, SeenFile>

const fixed: readonly (readonly [path: string, holds: Holds])[] = [
  ['kafka.tls.caFile', 'certificates'],
  ['kafka.tls.certFile', 'certificates'],
  ['kafka.tls.keyFile', 'key'],
  ['kafka.sasl.usernameFile', 'secret'],
  ['kafka.sasl.passwordFile', 'secret'],
  ['registry.usernameFile', 'secret'],
  ['registry.passwordFile', 'secret'],
  ['registry.caFile', 'certificates'],
  ['collector.operatorKeyFile', 'secret'],
  ['network.caFile', 'certificates'],
]

/** Every file whose content is part of the configuration. */
export function namedFiles(config: Pruned<ConfigurationInput>): readonly NamedFile[] {
  const places: (readonly [Path, Holds])[] = fixed.map(([path, holds]) => [path.split('.'), holds])
  const listed = (path: Path, value: unknown): void => {
    if (!Array.isArray(value)) places.push([path, 'secret'])
    else for (const place of value.keys()) places.push([[...path, place], 'secret'])
  }
  config.sources?.forEach((source, index) => {
    listed(['sources', index, 'writeKeyFile'], source?.writeKeyFile)
  })
  config.destinations?.forEach((destination, index) => {
    listed(['destinations', index, 'sharedSecretFile'], destination?.sharedSecretFile)
    destination?.webhooks?.forEach((webhook, position) => {
      const path: Path = ['destinations', index, 'webhooks', position]
      places.push([[...path, 'urlFile'], 'url'])
      for (const [name, value] of Object.entries(webhook?.headers ?? {}))
        if (typeof value === 'object') places.push([[...path, 'headers', name, 'file'], 'secret'])
    })
  })
  config.operator?.keys?.forEach((key, index) => {
    listed(['operator', 'keys', index, 'keyFile'], key?.keyFile)
  })
  return places.flatMap(([path, holds]) => {
    const name = valueAt(config, path)
    return typeof name === 'string' ? [{ path, name, holds }] : []
  })
}

/** A secret as editors and `echo` leave it: without the one line end at its end. */
export function secretIn(content: string): string {
  return content.replace(/\r?\n$/, '')
}

/** The secret in a file that can be used for one; undefined when it cannot. */
export function secretFrom(name: string | undefined, files: FileContents): string | undefined {
  const content = name === undefined ? undefined : files.get(name)
  return content?.kind === 'read' ? secretIn(content.text) || undefined : undefined
}

/** Why a file cannot be what it is named for; undefined when it can. */
export function refuseContent(content: SeenFile | undefined, holds: Holds): Objection | undefined {
  if (content === undefined) throw new Error('a file that the configuration names has not been read')
  if (content.kind === 'not_needed') return undefined
  if (content.kind === 'unreadable') return content
  switch (holds) {
    case 'secret':
      return secretIn(content.text) === '' ? { message: 'is empty', hint: 'write the secret into it' } : undefined
    case 'url': {
      const refusal = refuseUrl(secretIn(content.text))
      return refusal === undefined
        ? undefined
        : { message: `holds no URL that can be called: it ${refusal}`, hint: 'write the URL into it, and nothing else' }
    }
    case 'certificates':
      return refuseCertificates(content.text)
    case 'key': {
      const hint = 'it begins with -----BEGIN PRIVATE KEY----- or the like'
      const message = 'holds no PEM private key without a passphrase'
      return parses(() => createPrivateKey(content.text)) ? undefined : { message, hint }
    }
  }
}

const pemCertificate = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g

/** TLS libraries skip what they cannot read, and then trust less than was meant: every certificate has to be good. */
function refuseCertificates(text: string): Objection | undefined {
  const blocks = text.match(pemCertificate) ?? []
  const begun = text.split('-----BEGIN CERTIFICATE-----').length - 1
  if (begun === 0)
    return { message: 'holds no PEM certificate', hint: 'each one begins with -----BEGIN CERTIFICATE-----' }
  const bad = blocks.findIndex(block => !parses(() => new X509Certificate(block)))
  if (bad < 0 && blocks.length === begun) return undefined
  const number = (bad < 0 ? blocks.length : bad) + 1
  const message = `holds ${begun} PEM certificate${begun === 1 ? '' : 's'}, of which number ${number} cannot be parsed`
  return { message, hint: `look at it by openssl x509 -text, or take it out` }
}

/** True when a client's key is the one of its certificate. */
export function keyFits(certificate: string, key: string): boolean {
  return new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key))
}

function parses(parse: () => unknown): boolean {
  try {
    parse()
    return true
  } catch {
    return false
  }
}
