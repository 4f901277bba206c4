import { operatorPaths, operatorSecurity } from './openapi-operator.ts'
import { document, inPath, json, ofEveryRequest, response, responses, schema, templateOf } from './openapi-parts.ts'
import { operatorSchemas, schemas } from './openapi-schemas.ts'
import { documentPath, type IngestPath, ingestPaths, settingsPath } from './paths.ts'

const parameters = {
  StrictMode: {
    name: 'X-Strict-Mode',
    in: 'header',
    description: '`1`: one message that is rejected refuses the whole request, and nothing of it is taken.',
    schema: { enum: ['1'] },
  },
}

const body = (content: object) => ({
  required: true,
  description: 'JSON in UTF-8, plain or gzip: told by its bytes, whatever Content-Type and Content-Encoding say.',
  content: { 'application/json': { schema: content }, 'text/plain': { schema: content }, 'application/gzip': {} },
})
const requestBodies = { Batch: body(schema('Batch')), Call: body(schema('Call')) }

const ingest = ({ path, type, usedBy }: IngestPath): object => ({
  post: {
    operationId: path.slice(1).replaceAll('/', '_'),
    summary: type === undefined ? 'Take a batch of messages' : `Take one ${type} message`,
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
    summary: 'The settings that SDKs for browsers and mobile apps begin with',
    tags: ['settings'],
    security: [],
    parameters: [inPath('writeKey')],
    responses: {
      ...ofEveryRequest,
      200: { description: 'A source has this write key.', content: json(schema('Settings')) },
      404: response('NotFound'),
    },
  },
}

/** The operator API was here before it had a listener of its own. */
const deprecatedPaths = Object.fromEntries(
  Object.entries(operatorPaths).map(([path, operations]) => [
    path,
    Object.fromEntries(Object.entries(operations).map(([name, each]) => [name, { ...each, deprecated: true }])),
  ]),
)

/** The tracking API as OpenAPI 3.1, from the same tables as its routes and answers. */
export function openApiDocument(): object {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Hookline tracking API',
      version: '1',
      summary:
        'Takes analytics messages from SDKs that speak the tracking API; and syncs and deletions from operators.',
      description: [
        'A path may end in a slash. Pages of any origin may send.',
        'The write key is the user name of HTTP Basic, else in `X-Write-Key`, else in the body, else in the query.',
        'Paths for operators are deprecated here: they answer 404 unless `collector.operatorKey` is configured.',
        'Whatever goes wrong is answered with a JSON object that has `code`, `message` and `error`.',
      ].join('\n'),
      license: { name: 'Apache 2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: [{ name: 'messages' }, { name: 'settings' }, { name: 'operators' }],
    security: [{ basic: [] }, { header: [] }, { query: [] }, {}],
    paths: {
      ...Object.fromEntries(ingestPaths.map(path => [path.path, ingest(path)])),
      [templateOf(settingsPath)]: settings,
      ...deprecatedPaths,
      [documentPath]: document,
    },
    components: {
      schemas: { ...schemas, ...operatorSchemas },
      responses,
      parameters,
      requestBodies,
      securitySchemes: {
        basic: {
          type: 'http',
          scheme: 'basic',
          description: 'User name: the write key. The password is not looked at.',
        },
        header: {
          type: 'apiKey',
          in: 'header',
          name: 'X-Write-Key',
          description: 'The write key; a secret may follow behind a colon.',
        },
        query: { type: 'apiKey', in: 'query', name: 'writeKey' },
        ...operatorSecurity,
      },
    },
  }
}
