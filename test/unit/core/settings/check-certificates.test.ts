import { createPrivateKey, generateKeyPairSync } from 'node:crypto'
import { createSecureContext } from 'node:tls'
import { expect, it } from '@jest/globals'
import { clientCertificate, usableCertificates } from '../../../../src/core/settings/check-certificates.ts'
import { createAuthority } from '../../../support/network/certificates.ts'

const { cert, key } = createAuthority().issue({ usage: 'client' })
const short = generateKeyPairSync('rsa', { modulusLength: 1_024 }).privateKey.export({ format: 'jwk' })
/**
 * A private key with a modulus of `bits` bits, which replaces the modulus of a short key.
 * Generating a real key of this size would take seconds.
 */
const keyOfBits = (bits: number): string =>
  createPrivateKey({ key: { ...short, n: Buffer.alloc(bits / 8, 255).toString('base64url') }, format: 'jwk' })
    .export({ format: 'pem', type: 'pkcs8' })
    .toString()

const ofDestination = (clientKey: string) => ({ destinations: [{ tls: { clientCert: cert, clientKey } }] })
const ofKafka = (keyFile: string) => ({ kafka: { tls: { certFile: cert, keyFile } } })
const problemsOf = (config: object): string[] =>
  [usableCertificates, clientCertificate]
    .flatMap(rule =>
      rule(config, new Map([cert, key, ...sizes.map(keyOfBits)].map(text => [text, { kind: 'read', text }]))),
    )
    .map(({ message }) => message)
const sizes = [1_024, 4_096, 4_104, 8_192]
const unmatched = (keyName: string) => `is not the key of the certificate in ${keyName}`

it('an RSA key of a destination must have 2,048 to 4,096 bits', () => {
  expect(problemsOf(ofDestination(key))).toEqual([])
  expect(sizes.map(bits => problemsOf(ofDestination(keyOfBits(bits))))).toEqual([
    ['is an RSA key of 1024 bits'],
    [unmatched('clientCert')],
    ['is an RSA key of 4104 bits'],
    ['is an RSA key of 8192 bits'],
  ])
})

it('an RSA key for Kafka must have at least 2,048 bits', () => {
  expect(problemsOf(ofKafka(key))).toEqual([])
  expect(sizes.map(bits => problemsOf(ofKafka(keyOfBits(bits))))).toEqual([
    ['is an RSA key of 1024 bits'],
    ...sizes.slice(1).map(() => [unmatched('certFile')]),
  ])
})

it('an EC key of a client certificate may have any size', () => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const ec = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString()
  expect(problemsOf(ofDestination(ec))).toEqual([unmatched('clientCert')])
})

const block = (label: string, content: string): string =>
  `-----BEGIN ${label}-----\n${content}\n-----END ${label}-----\n`
const other = createAuthority().cert

it.each([
  ['a space before the certificate', ` ${cert}`, 1, 1],
  ['a NUL before the certificate', `\0${cert}`, 1, 1],
  ['a space before the second certificate', `${cert} ${other}`, 2, 2],
  ['text after the last line of the first certificate', `${cert.trim()} text\n${other}`, 1, 2],
  ['a damaged certificate with other labels before it', block('TRUSTED CERTIFICATE', 'AAAA') + cert, 1, 2],
  ['a damaged certificate with old labels before it', block('X509 CERTIFICATE', 'AAAA') + cert, 1, 2],
  ['a damaged certificate with old labels after it', cert + block('X509 CERTIFICATE', 'AAAA'), 2, 2],
  ['a certificate without an end', `${cert}-----BEGIN CERTIFICATE-----\nAAAA`, 2, 2],
  ['a damaged certificate with a wrong end', `-----BEGIN X509 CERTIFICATE-----\nAAAA\n${cert}`, 1, 1],
])('refuses certificates that TLS cannot read: %s', (_, clientCert, number, count) => {
  expect(problemsOf({ destinations: [{ tls: { clientCert, clientKey: key } }] })).toEqual([
    `contains a PEM certificate (number ${number} of ${count}) that cannot be parsed`,
  ])
})

it.each([
  ['a private key without an end', `${cert}-----BEGIN PRIVATE KEY-----\nAAAA\n`],
  ['a damaged block of another kind', cert + block('FOO', '*')],
  ['only the first line of a block', `${cert}-----BEGIN FOO-----\n`],
  ['a private key without an end and a second certificate', `${cert}${other}-----BEGIN PRIVATE KEY-----\nAAAA`],
])('refuses text after the last certificate that TLS cannot read: %s', (_, clientCert) => {
  expect(problemsOf({ destinations: [{ tls: { clientCert, clientKey: key } }] })).toEqual([
    'has text after its last PEM certificate, and this text cannot be parsed',
  ])
  expect(() => createSecureContext({ cert: clientCert, key })).toThrow()
})

it.each([
  ['text before it', `text\n${cert}`],
  ['its key before it', key + cert],
  ['its key after it', cert + key],
  ['text after it', `${cert}Bag Attributes\n    localKeyID: 01\n`],
  ['its key and text after it, with line ends of Windows', `${cert}${key}text\n`.replaceAll('\n', '\r\n')],
  ['its key after it, without a line end', cert + key.trim()],
  ['another certificate after it', cert + other],
  ['an empty line and text between certificates', `${cert}\ntext\n${other}`],
  ['line ends of Windows', cert.replaceAll('\n', '\r\n')],
  ['no line end', cert.trim()],
])('accepts a client certificate with %s', (_, clientCert) => {
  expect(problemsOf({ destinations: [{ tls: { clientCert, clientKey: key } }] })).toEqual([])
  expect(() => createSecureContext({ cert: clientCert, key })).not.toThrow()
})
