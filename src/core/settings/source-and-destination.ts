import { z } from 'zod'
import { fileName, httpUrl, id, oneOrTwo, oneToThree, secretText, textOrFile } from './fields.ts'

/* What sends messages, and what gets them. */

export const source = z.strictObject({
  id: id.describe('Name of the source; events carry it.'),
  writeKey: oneToThree(secretText)
    .optional()
    .describe('Key that its messages are sent with, or a list of up to three; or `writeKeyFile`.'),
  writeKeyFile: oneToThree(fileName).optional().describe('File that holds the write key, or a list of up to three.'),
})

const webhook = z.strictObject({
  id: id.optional().describe('Label in metrics and logs. Absent: the position, from 0.'),
  url: httpUrl.optional().describe('Full URL with http:// or https://, without credentials; or `urlFile`.'),
  urlFile: fileName.optional().describe('File that holds the URL, for a URL that is a secret.'),
  headers: z
    .record(z.string(), textOrFile)
    .default({})
    .describe('Static headers added to every request. A value can be `{ file: NAME }`, a file that holds it.'),
  traceHeaders: z
    .boolean()
    .default(false)
    .describe('Send `traceparent` and `tracestate`, so that its owner sees our trace; needs `traces`.'),
})

export const destination = z.strictObject({
  id: id.describe('Name of the destination; metrics, logs and dead letters carry it.'),
  enabled: z.boolean().default(true).describe('`false`: its events are dropped.'),
  paused: z.boolean().default(false).describe('`true`: nothing is called, events wait; their retry window runs.'),
  sources: z.array(id).min(1).describe('Ids of the sources whose messages it gets.'),
  sharedSecret: oneOrTwo(secretText)
    .optional()
    .describe('Signs every request (X-Signature). A list of two during a rotation: the first one signs.'),
  sharedSecretFile: oneOrTwo(fileName).optional().describe('File that holds the shared secret, or a list of two.'),
  policy: z
    .strictObject({
      standardWebhooks: z
        .boolean()
        .optional()
        .describe('Send the Standard Webhooks headers as well. Absent: as `payload.standardWebhooks`.'),
    })
    .prefault({})
    .describe('What this destination has in place of the settings for all.'),
  webhooks: z.array(webhook).min(1).max(5).describe('One to five; a delivery is done when any of them succeeds.'),
})

export const destinationsDirectory = z.strictObject({
  directory: fileName.describe('The directory.'),
  sources: z.array(id).min(1).optional().describe('Ids of the sources that its destinations may name. Absent: all.'),
})
