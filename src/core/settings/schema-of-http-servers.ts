import { z } from 'zod'
import { headerName, headerNameCharacters } from './refuse-header.ts'
import { count, fileName, id, listen, oneOf, oneOrTwo, secretText } from './value-types.ts'

/* Settings of the HTTP servers: addresses, limits and keys. */

/**
 * The default addresses. `collector` and `ops` listen on all addresses of a container, because
 * other hosts must reach them. Restrict access with network policies.
 */
export const defaultListen = {
  collector: '0.0.0.0:8080',
  ops: '0.0.0.0:9464',
  operator: '127.0.0.1:8090',
} as const

export const collector = z
  .strictObject({
    listen: listen
      .prefault(defaultListen.collector)
      .describe('Address at which the tracking API listens, as `host:port`.'),
    operatorKey: secretText
      .optional()
      .describe(
        'Key of the operator API at `collector.listen`. Deprecated: use `operator.keys`. Absent: no operator API at this address.',
      ),
    operatorKeyFile: fileName.optional().describe('File that contains `operatorKey`. Deprecated: use `operator.keys`.'),
    maxBodyBytes: count
      .max(64 * 1_048_576)
      .default(4_194_304)
      .describe('Maximum size of a request body in bytes, after decompression.'),
    ratePerSource: count
      .optional()
      .describe(
        'Maximum number of messages per second that each process accepts from one source. A short burst may exceed this limit. Absent: no limit.',
      ),
    clientAddressHeader: z
      .string()
      .regex(headerName, `must be the name of a header, with only ${headerNameCharacters}`)
      .optional()
      .describe(
        'Header in which a proxy sends the address of the client, for example `X-Forwarded-For`. Hookline uses the last address in this header for all limits per client address, also those of the operator API. Absent: Hookline uses the address of the connection.',
      ),
    connectionsPerAddress: count
      .default(2_500)
      .describe(
        'Maximum number of concurrent connections from one client address to one process, or of concurrent requests if `clientAddressHeader` is set. All clients together can have at most 4,000 connections to a process.',
      ),
    bodyBytesPerAddress: count
      .optional()
      .describe(
        'Maximum memory of one process, in bytes, for the requests of one client address: bodies, rejected messages, and responses that the client has not read. Absent: 16 MiB, or twice `maxBodyBytes` if that is more.',
      ),
  })
  .prefault({})
  .describe('The HTTP service that receives messages.')

export const ops = z
  .strictObject({
    listen: listen
      .prefault(defaultListen.ops)
      .describe('Address of the HTTP server for `/metrics`, `/livez` and `/readyz`, as `host:port`.'),
  })
  .prefault({})
  .describe('The HTTP server for metrics and health checks.')

/** `read` permits GET and HEAD requests, `operate` all requests. */
export const operatorRoles = ['read', 'operate'] as const

const key = z.strictObject({
  name: id.describe('Name of the key. The audit log shows it with each change that is made with the key.'),
  role: oneOf(operatorRoles).describe(
    '`read`: the key permits only GET and HEAD requests. `operate`: it permits all requests.',
  ),
  key: oneOrTwo(secretText)
    .optional()
    .describe('The key, or a list of two keys during a rotation. Hookline accepts both keys.'),
  keyFile: oneOrTwo(fileName)
    .optional()
    .describe('File with the key, or a list of two files during a rotation. Hookline accepts the keys of both files.'),
})

export const operator = z
  .strictObject({
    listen: listen
      .prefault(defaultListen.operator)
      .describe(
        'Address of the operator API and the console, in processes that run the service `operator`. A change needs a restart.',
      ),
    keys: z
      .array(key)
      .default([])
      .describe(
        'Keys of the operator API, with which operators also sign in to the console in a browser. Absent: the operator API does not listen. Adding the first key or removing the last key needs a restart.',
      ),
    encryptionKeyFile: oneOrTwo(fileName)
      .optional()
      .describe(
        'File with a key of 32 random bytes in base64 or hex. The key encrypts the secrets of the destinations and sources that the operator API manages. For a rotation, set a list of two files: Hookline encrypts with the first key, and decrypts with both. Absent: the operator API cannot create or change destinations and sources. Adding or removing `encryptionKeyFile` needs a restart.',
      ),
  })
  .prefault({})
  .describe('The console and the operator API.')
