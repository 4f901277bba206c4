import { documentPath, settingsPath, type TrackingPath, trackingPaths } from './api-paths-and-methods.ts'
import { deletionAndSyncPaths } from './openapi-deletion-and-sync-paths.ts'
import { deletionAndSyncSchemas } from './openapi-deletion-and-sync-schemas.ts'
import { operatorSecurity } from './openapi-operator.ts'
import {
  document,
  inPath,
  json,
  ofEveryRequest,
  response,
  responses,
  schema,
  templateOf,
} from './openapi-responses-and-references.ts'
import { schemas } from './openapi-tracking-schemas.ts'

const parameters = {
  StrictMode: {
    name: 'X-Strict-Mode',
    in: 'header',
    description: '`1`: if any message is invalid, the collector rejects the whole request and stores nothing.',
    schema: { enum: ['1'] },
  },
}

const body = (content: object) => ({
  required: true,
  description:
    'JSON in UTF-8, plain or gzip. Hookline detects gzip by the first bytes, and ignores Content-Type and Content-Encoding.',
  content: { 'application/json': { schema: content }, 'text/plain': { schema: content }, 'application/gzip': {} },
})
const requestBodies = { Batch: body(schema('Batch')), Call: body(schema('Call')) }

const trackingOperation = ({ path, type, usedBy }: TrackingPath): object => ({
  post: {
    operationId: path.slice(1).replaceAll('/', '_'),
    summary: type === undefined ? 'Accept a batch of messages' : `Accept one ${type} message`,
    description: `Used by ${usedBy}.`,
    tags: ['messages'],
    parameters: [{ $ref: '#/components/parameters/StrictMode' }],
    requestBody: { $ref: `#/components/requestBodies/${type === undefined ? 'Batch' : 'Call'}` },
    responses: {
      ...ofEveryRequest,
      200: response('Accepted'),
      400: response('NotTaken'),
      401: response('InvalidWriteKey'),
      413: response('TooLarge'),
      429: response('RateLimited'),
    },
  },
})

const settings = {
  get: {
    operationId: 'settings',
    summary: 'Show the settings that browser and mobile SDKs fetch at their start',
    tags: ['settings'],
    security: [],
    parameters: [inPath('writeKey')],
    responses: {
      ...ofEveryRequest,
      200: {
        description: 'The write key belongs to a source. The response has the settings for SDKs that use this key.',
        content: json(schema('Settings')),
      },
      404: response('NotFound'),
    },
  },
}

/**
 * The paths of the operator API on the listener of the tracking API. They are deprecated, because
 * the operator API has its own listener.
 */
const deprecatedPaths = Object.fromEntries(
  Object.entries(deletionAndSyncPaths).map(([path, operations]) => [
    path,
    Object.fromEntries(
      Object.entries(operations).map(([name, each]) => [
        name,
        { ...each, security: [{ operator: [] }], deprecated: true },
      ]),
    ),
  ]),
)

/** The OpenAPI 3.1 document of the tracking API, with the same path constants as the routes. */
export function openApiDocument(): object {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Hookline tracking API',
      version: '1',
      summary:
        'Accepts customer-data messages from tracking SDKs, and requests of operators to sync audiences and delete users.',
      description: [
        'A path may end in a slash. Web pages of any origin may send messages.',
        'Hookline uses the first write key that it finds, in this order: the user name of HTTP Basic, `X-Write-Key`, the body, the query.',
        'The operator paths of this API are deprecated: use the operator API at `operator.listen` instead. Without `collector.operatorKey`, the deprecated paths respond with 404.',
        'Every error response is a JSON object with `code`, `message` and `error`.',
      ].join('\n'),
      license: { name: 'Apache 2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: [{ name: 'messages' }, { name: 'settings' }, { name: 'operators' }],
    security: [{ basic: [] }, { header: [] }, { query: [] }, {}],
    paths: {
      ...Object.fromEntries(trackingPaths.map(path => [path.path, trackingOperation(path)])),
      [templateOf(settingsPath)]: settings,
      ...deprecatedPaths,
      [documentPath]: document,
    },
    components: {
      schemas: { ...schemas, ...deletionAndSyncSchemas },
      responses,
      parameters,
      requestBodies,
      securitySchemes: {
        basic: {
          type: 'http',
          scheme: 'basic',
          description: 'The user name is the write key. The password is ignored.',
        },
        header: {
          type: 'apiKey',
          in: 'header',
          name: 'X-Write-Key',
          description:
            'The write key. If a colon and more text follow the key, Hookline ignores the colon and this text.',
        },
        query: { type: 'apiKey', in: 'query', name: 'writeKey' },
        operator: { ...operatorSecurity.operator, description: 'The key in `collector.operatorKey`.' },
      },
    },
  }
}
