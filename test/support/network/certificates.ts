import { generateKeyPairSync, sign } from 'node:crypto'
import forge from 'node-forge'

const dayMs = 86_400_000

export interface Leaf {
  readonly cert: string
  readonly key: string
}

interface LeafOptions {
  /** Subject alternative names: host names and addresses. */
  readonly names?: readonly string[]
  /** Days from now; negative in the past. */
  readonly validFrom?: number
  readonly validTo?: number
  /** By default `server`. */
  readonly usage?: 'server' | 'client' | 'both'
}

export interface CertificateAuthority {
  readonly cert: string
  issue(options?: LeafOptions): Leaf
}

interface Key {
  readonly pem: string
  readonly publicKey: forge.pki.PublicKey
}

/** Creates a key with Node, because forge is slow at creating keys. */
function createKey(): Key {
  const pair = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  })
  return { pem: pair.privateKey, publicKey: forge.pki.publicKeyFromPem(pair.publicKey) }
}

function signed(certificate: forge.pki.Certificate, { pem }: Key): string {
  const signing = {
    sign() {
      // forge sets this field before it calls `sign`, but its types lack the field.
      const { tbsCertificate } = certificate as unknown as { tbsCertificate: forge.asn1.Asn1 }
      const bytes = Buffer.from(forge.asn1.toDer(tbsCertificate).getBytes(), 'latin1')
      return sign('sha256', bytes, pem).toString('latin1')
    },
  }
  certificate.sign(signing as unknown as forge.pki.rsa.PrivateKey, forge.md.sha256.create())
  return forge.pki.certificateToPem(certificate)
}

let serial = 1

function certificate(subject: string, key: forge.pki.PublicKey, { validFrom = -1, validTo = 1 }: LeafOptions) {
  const made = forge.pki.createCertificate()
  made.publicKey = key
  made.serialNumber = (serial++).toString(16).padStart(4, '0')
  made.validity.notBefore = new Date(Date.now() + validFrom * dayMs)
  made.validity.notAfter = new Date(Date.now() + validTo * dayMs)
  made.setSubject([{ name: 'commonName', value: subject }])
  return made
}

/** Alternative names for forge. Type 2 is a host name, type 7 an IP address (RFC 5280 §4.2.1.6). */
const altNames = (names: readonly string[]) =>
  names.map(name => (/^[\d.]+$|:/.test(name) ? { type: 7, ip: name } : { type: 2, value: name }))

export function createAuthority(name = 'test authority'): CertificateAuthority {
  const key = createKey()
  const leafKey = createKey()
  const own = certificate(name, key.publicKey, {})
  own.setIssuer(own.subject.attributes)
  own.setExtensions([
    { name: 'basicConstraints', cA: true, critical: true },
    { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
  ])

  return {
    cert: signed(own, key),
    issue(options = {}) {
      const { names = ['localhost', '127.0.0.1', '::1'], usage = 'server' } = options
      const leaf = certificate(names[0] ?? '', leafKey.publicKey, options)
      leaf.setIssuer(own.subject.attributes)
      leaf.setExtensions([
        { name: 'keyUsage', digitalSignature: true, keyEncipherment: true, critical: true },
        { name: 'extKeyUsage', serverAuth: usage !== 'client', clientAuth: usage !== 'server' },
        { name: 'subjectAltName', altNames: altNames(names) },
      ])
      return { cert: signed(leaf, key), key: leafKey.pem }
    },
  }
}

/** Creates a self-signed certificate, which clients must reject. */
export function selfSigned(names: readonly string[] = ['localhost', '127.0.0.1', '::1']): Leaf {
  const key = createKey()
  const own = certificate(names[0] ?? '', key.publicKey, {})
  own.setIssuer(own.subject.attributes)
  own.setExtensions([{ name: 'subjectAltName', altNames: altNames(names) }])
  return { cert: signed(own, key), key: key.pem }
}
