import { z } from 'zod'
import { fileName, httpUrl, id, oneOrTwo, oneToThree, secretText, textOrFile } from './fields.ts'

/* Schemas of sources, and of destinations with their webhooks. */

export const source = z.strictObject({
  id: id.describe('Id of the source; each of its events contains it.'),
  writeKey: oneToThree(secretText)
    .optional()
    .describe('Key that authenticates its senders, or a list of up to three. Alternatively `writeKeyFile`.'),
  writeKeyFile: oneToThree(fileName).optional().describe('File with the write key, or a list of up to three.'),
})

const webhook = z.strictObject({
  id: id.optional().describe('Label in metrics and logs. Absent: the position, from 0.'),
  url: httpUrl.optional().describe('Full URL with http:// or https://, without credentials. Alternatively `urlFile`.'),
  urlFile: fileName.optional().describe('File with the URL, for a secret URL.'),
  headers: z
    .record(z.string(), textOrFile)
    .default({})
    .describe('Static headers added to every request. A value can be `{ file: NAME }`, a file that contains it.'),
  traceHeaders: z
    .boolean()
    .default(false)
    .describe(
      "Send `traceparent` and `tracestate`, so that the receiver's spans belong to the same trace. Requires `traces`.",
    ),
})

export const destination = z.strictObject({
  id: id.describe('Id of the destination in metrics, logs and dead letters.'),
  enabled: z.boolean().default(true).describe('`false`: its events are dropped.'),
  paused: z
    .boolean()
    .default(false)
    .describe('`true`: no requests are sent and events wait. Their retry window continues.'),
  sources: z.array(id).min(1).describe('Ids of the sources whose messages it receives.'),
  sharedSecret: oneOrTwo(secretText)
    .optional()
    .describe(
      'Secret that signs every request (X-Signature), or a list of two during a rotation; the first one signs.',
    ),
  sharedSecretFile: oneOrTwo(fileName).optional().describe('File with the shared secret, or a list of two.'),
  policy: z
    .strictObject({
      standardWebhooks: z
        .boolean()
        .optional()
        .describe('Send also the Standard Webhooks headers. Absent: as in `payload.standardWebhooks`.'),
    })
    .prefault({})
    .describe('Settings that override the global ones for this destination.'),
  webhooks: z
    .array(webhook)
    .min(1)
    .max(5)
    .describe('One to five webhooks. A delivery succeeds when one of them succeeds.'),
})

export const destinationsDirectory = z.strictObject({
  directory: fileName.describe('The directory.'),
  sources: z.array(id).min(1).optional().describe('Ids of the sources that its destinations may use. Absent: all.'),
})
