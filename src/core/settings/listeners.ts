import { z } from 'zod'
import { count, fileName, id, listen, oneOf, oneOrTwo, secretText, text } from './fields.ts'

/* What listens: addresses, limits and keys. */

/**
 * In a container everything listens on all addresses; what may reach it is the network's policy. The operator API is not reached from another
 * machine unless the configuration says so.
 */
export const defaultListen = {
  collector: '0.0.0.0:8080',
  ops: '0.0.0.0:9464',
  operator: '127.0.0.1:8090',
} as const

export const collector = z
  .strictObject({
    listen: listen.prefault(defaultListen.collector).describe('Where the tracking API listens.'),
    operatorKey: secretText
      .optional()
      .describe('Deprecated, use `operator.keys`: key of the operator API on this listener. Absent: it is off here.'),
    operatorKeyFile: fileName.optional().describe('Deprecated, use `operator.keys`: file that holds that key.'),
    maxBodyBytes: count
      .max(64 * 1_048_576)
      .default(4_194_304)
      .describe('Largest request body, decompressed.'),
    ratePerSource: count.optional().describe('Messages a second that one source may send. Absent: no limit.'),
    clientAddressHeader: text
      .optional()
      .describe(
        'Header in which a proxy names the address of the client, as `X-Forwarded-For`; its last address counts. Absent: the address of the connection.',
      ),
    connectionsPerAddress: count
      .default(2_500)
      .describe('Connections of one client address at a time; with `clientAddressHeader`, its requests in progress.'),
    bodyBytesPerAddress: count
      .optional()
      .describe(
        'Bytes that the request bodies of one client address hold at a time. Absent: 16 MiB, or twice `maxBodyBytes`.',
      ),
  })
  .prefault({})
  .describe('The HTTP service that takes messages in.')

export const ops = z
  .strictObject({ listen: listen.prefault(defaultListen.ops).describe('Where /metrics, /livez and /readyz listen.') })
  .prefault({})
  .describe('Metrics and health.')

/** `read`: GET requests. `operate`: every request. */
export const operatorRoles = ['read', 'operate'] as const

const key = z.strictObject({
  name: id.describe('Name of the key; the audit log names who changed something by it.'),
  role: oneOf(operatorRoles).describe('`read`: GET requests only. `operate`: every request.'),
  key: oneOrTwo(secretText).optional().describe('The key. A list of two during a rotation: both are accepted.'),
  keyFile: oneOrTwo(fileName).optional().describe('File that holds the key, or a list of two.'),
})

export const operator = z
  .strictObject({
    listen: listen
      .prefault(defaultListen.operator)
      .describe('Where the operator API listens, in processes that run the collector; a change needs a restart.'),
    keys: z.array(key).default([]).describe('Keys of the operator API. Without any, it does not listen.'),
  })
  .prefault({})
  .describe('The operator API.')
