import { z } from 'zod'
import { count, fileName, id, listen, oneOf, oneOrTwo, secretText, text } from './fields.ts'

/* Settings of the HTTP servers: addresses, limits and keys. */

/**
 * The default addresses. In a container, the collector and ops listen on all addresses, and network
 * policies restrict access. The operator API is local unless the configuration says otherwise.
 */
export const defaultListen = {
  collector: '0.0.0.0:8080',
  ops: '0.0.0.0:9464',
  operator: '127.0.0.1:8090',
} as const

export const collector = z
  .strictObject({
    listen: listen.prefault(defaultListen.collector).describe('Address of the tracking API.'),
    operatorKey: secretText
      .optional()
      .describe(
        'Deprecated, use `operator.keys`: key of the operator API at `collector.listen`. Absent: no operator API there.',
      ),
    operatorKeyFile: fileName.optional().describe('Deprecated, use `operator.keys`: file with `operatorKey`.'),
    maxBodyBytes: count
      .max(64 * 1_048_576)
      .default(4_194_304)
      .describe('Maximum size of a request body, after decompression.'),
    ratePerSource: count.optional().describe('Maximum messages per second of one source. Absent: no limit.'),
    clientAddressHeader: text
      .optional()
      .describe(
        'Header in which a proxy sends the address of the client, for example `X-Forwarded-For`; the last address is used. Absent: the address of the connection.',
      ),
    connectionsPerAddress: count
      .default(2_500)
      .describe(
        'Maximum concurrent connections of one client address. With `clientAddressHeader`: maximum concurrent requests.',
      ),
    bodyBytesPerAddress: count
      .optional()
      .describe(
        'Maximum bytes of the request bodies of one client address in memory. Absent: 16 MiB, or twice `maxBodyBytes` if that is more.',
      ),
  })
  .prefault({})
  .describe('The HTTP service that receives messages.')

export const ops = z
  .strictObject({ listen: listen.prefault(defaultListen.ops).describe('Address of /metrics, /livez and /readyz.') })
  .prefault({})
  .describe('The HTTP server for metrics and health checks.')

/** `read`: GET requests. `operate`: all requests. */
export const operatorRoles = ['read', 'operate'] as const

const key = z.strictObject({
  name: id.describe('Name of the key, which the audit log shows for each change.'),
  role: oneOf(operatorRoles).describe('`read`: GET requests only. `operate`: all requests.'),
  key: oneOrTwo(secretText).optional().describe('The key, or a list of two during a rotation; both are accepted.'),
  keyFile: oneOrTwo(fileName).optional().describe('File with the key, or a list of two.'),
})

export const operator = z
  .strictObject({
    listen: listen
      .prefault(defaultListen.operator)
      .describe('Address of the operator API, in processes that run the collector. A change needs a restart.'),
    keys: z.array(key).default([]).describe('Keys of the operator API. Without keys, that API does not listen.'),
  })
  .prefault({})
  .describe('The operator API.')
