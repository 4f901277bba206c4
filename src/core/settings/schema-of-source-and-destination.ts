import { z } from 'zod'
import { auth } from './schema-of-destination-auth.ts'
import { lifecycle } from './schema-of-destination-lifecycle.ts'
import { policy } from './schema-of-destination-policy.ts'
import { filter } from './schema-of-event-filter.ts'
import { endpointTls } from './schema-of-network-and-tls.ts'
import { fileName, httpUrl, id, oneOrTwo, oneToThree, secretText, textOrFile, time } from './value-types.ts'

export const source = z.strictObject({
  id: id.describe('Id of the source. Each event of the source contains this id.'),
  writeKey: oneToThree(secretText)
    .optional()
    .describe(
      'Write key that authenticates the source, or a list of up to three keys during a rotation. Alternatively, set `writeKeyFile`.',
    ),
  writeKeyFile: oneToThree(fileName)
    .optional()
    .describe('File with the write key, or a list of up to three files with one key each.'),
})

const webhook = z.strictObject({
  id: id
    .optional()
    .describe(
      'Label of the webhook in metrics and logs. Absent: the position of the webhook in the list, counted from 0.',
    ),
  url: httpUrl
    .optional()
    .describe('URL that begins with http:// or https:// and contains no credentials. Alternatively, set `urlFile`.'),
  urlFile: fileName.optional().describe('File that contains the URL. Use it instead of `url` if the URL is secret.'),
  headers: z
    .record(z.string(), textOrFile)
    .default({})
    .describe(
      'Static headers of every request. Each value is text, or `{ file: NAME }` for a file that contains the value.',
    ),
  traceHeaders: z
    .boolean()
    .default(false)
    .describe(
      "`true`: requests have the headers `traceparent` and `tracestate`, so that the receiver's spans belong to the trace of the delivery. Requires `traces`.",
    ),
})

export const destination = z.strictObject({
  id: id.describe('Id of the destination in metrics, logs, dead letters and commands.'),
  enabled: z.boolean().default(true).describe('`false`: the destination is disabled, and Hookline drops its events.'),
  paused: z
    .boolean()
    .default(false)
    .describe(
      '`true`: Hookline sends no requests, and the events wait. Events that still wait at the end of their retry window are dead-lettered.',
    ),
  sources: z.array(id).min(1).describe('Ids of the sources whose messages the destination receives.'),
  sharedSecret: oneOrTwo(secretText)
    .optional()
    .describe(
      'Secret with which Hookline signs every request, or a list of two during a rotation. The header X-Signature uses only the first secret; the Standard Webhooks headers use both.',
    ),
  sharedSecretFile: oneOrTwo(fileName)
    .optional()
    .describe('File with the shared secret, or a list of two files during a rotation.'),
  secretRotatesAt: time
    .optional()
    .describe(
      'Time in ISO 8601 from which Hookline signs with only the second of the two shared secrets. Absent: both secrets stay in use until the configuration changes.',
    ),
  signingKey: oneOrTwo(secretText)
    .optional()
    .describe(
      'Ed25519 private key for `policy.signing: ed25519`: PKCS#8 in PEM, or `whsk_` followed by the seed in Base64. For a rotation, set a list of two keys: Hookline then signs with both.',
    ),
  signingKeyFile: oneOrTwo(fileName)
    .optional()
    .describe('File with the private key, or a list of two files during a rotation.'),
  auth,
  policy: policy
    .prefault({})
    .describe('Settings that override those of `delivery` and `payload` for this destination.'),
  lifecycle: lifecycle
    .prefault({})
    .describe(
      'Settings for failing endpoints and for pauses: when Hookline disables the destination, and whether the time of a pause counts towards the retry window.',
    ),
  filter,
  tls: endpointTls,
  webhooks: z
    .array(webhook)
    .min(1)
    .max(5)
    .describe('One to five webhooks. A delivery succeeds when at least one of them accepts the event.'),
})

export const destinationsDirectory = z.strictObject({
  directory: fileName.describe('Directory with one file for each destination.'),
  sources: z
    .array(id)
    .min(1)
    .optional()
    .describe(
      'Ids of the sources whose events the destinations of this directory may receive. Absent: the ids of all sources.',
    ),
})
