import { z } from 'zod'
import { fileName, httpUrl, id, oneOrTwo, oneToThree, secretText, textOrFile } from './fields.ts'

export const source = z.strictObject({
  id: id.describe('Id of the source, which each of its events contains.'),
  writeKey: oneToThree(secretText)
    .optional()
    .describe(
      'Key that authenticates the senders of the source, or a list of up to three. Alternatively `writeKeyFile`.',
    ),
  writeKeyFile: oneToThree(fileName).optional().describe('File with the write key, or a list of up to three.'),
})

const webhook = z.strictObject({
  id: id.optional().describe('Label of the webhook in metrics and logs. Absent: the position of the webhook, from 0.'),
  url: httpUrl.optional().describe('Full URL with http:// or https://, without credentials. Alternatively `urlFile`.'),
  urlFile: fileName.optional().describe('File with the URL, for a secret URL.'),
  headers: z
    .record(z.string(), textOrFile)
    .default({})
    .describe(
      'Static headers added to every request. A value can be `{ file: NAME }`, a file that contains the value.',
    ),
  traceHeaders: z
    .boolean()
    .default(false)
    .describe(
      "Send `traceparent` and `tracestate`, so that the receiver's spans belong to the same trace. Requires `traces`.",
    ),
})

export const destination = z.strictObject({
  id: id.describe('Id of the destination in metrics, logs and dead letters.'),
  enabled: z.boolean().default(true).describe('`false`: events for this destination are dropped.'),
  paused: z
    .boolean()
    .default(false)
    .describe('`true`: no requests are sent, and events wait. Their retry window continues to run.'),
  sources: z.array(id).min(1).describe('Ids of the sources whose messages the destination receives.'),
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
        .describe('Also send the Standard Webhooks headers. Absent: the value of `payload.standardWebhooks`.'),
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
  directory: fileName.describe('Directory with one file for each destination.'),
  sources: z
    .array(id)
    .min(1)
    .optional()
    .describe('Ids of the sources that destinations of this directory may use. Absent: all.'),
})
