import { type ProblemCode, problemStatus } from './answers.ts'
import { memberList, operatorSchemas, syncParameters } from './openapi-operator.ts'
import { schemas } from './openapi-schemas.ts'
import {
  deletionPath,
  deletionsPath,
  documentPath,
  type IngestPath,
  ingestPaths,
  settingsPath,
  syncsPath,
} from './paths.ts'

/** What each code means, for those who read the document. */
const meanings = {
  malformed_request: 'no valid HTTP/1.1',
  invalid_json: 'the body, or the only message, is not JSON',
  invalid_body: 'the body holds no message, or begins like gzip and is none',
  rejected: 'strict mode, or the only message of the request: it is not taken, and `rejected` says why',
  unknown_source: '`sources` names one that is not configured',
  invalid_operator_key: 'it is not the operator key, or there is none in the request',
  unknown_audience: '`audiences.list` has none of this name',
  invalid_write_key: 'no source has this write key, or there is none in the request',
  not_found: 'there is nothing at this path, or no source has this write key',
  request_timeout: 'the request came too slowly; send it again',
  payload_too_large: 'the body has more bytes, unpacked, than `collector.maxBodyBytes` (4 MiB); send smaller batches',
  expectation_failed: 'an `Expect` other than 100-continue',
  rate_limited: 'the source sends more messages a second than `collector.ratePerSource`',
  headers_too_large: 'more than 16 KiB or 200 header fields',
  internal_error: 'our fault; send it again later',
  unavailable: 'Kafka did not take it, or too much is under way; send it again later',
} as const satisfies Partial<Record<ProblemCode, string>>

type DescribedCode = keyof typeof meanings

const schema = (name: keyof typeof schemas | keyof typeof operatorSchemas) => ({ $ref: `#/components/schemas/${name}` })
const json = (content: object) => ({ 'application/json': { schema: content } })

function refusal(...codes: readonly [DescribedCode, ...DescribedCode[]]): object {
  const status = problemStatus[codes[0]]
  return {
    description: codes.map(code => `\`${code}\`: ${meanings[code]}.`).join('\n'),
    ...((status === 429 || status === 503) && {
      headers: { 'Retry-After': { schema: { type: 'integer' }, description: 'Seconds.' } },
    }),
    content: json({ ...schema('Problem'), properties: { code: { enum: codes } } }),
  }
}

const responses = {
  Accepted: { description: 'All replicas of Kafka have it.', content: json(schema('Accepted')) },
  Malformed: refusal('malformed_request'),
  NotTaken: refusal('invalid_json', 'invalid_body', 'rejected', 'malformed_request'),
  InvalidWriteKey: refusal('invalid_write_key'),
  NotFound: refusal('not_found'),
  DeletionNotTaken: refusal('invalid_json', 'invalid_body', 'unknown_source', 'malformed_request'),
  ListNotTaken: refusal('invalid_body', 'malformed_request'),
  InvalidOperatorKey: refusal('invalid_operator_key'),
  UnknownAudience: refusal('unknown_audience', 'not_found'),
  Timeout: refusal('request_timeout'),
  TooLarge: refusal('payload_too_large'),
  ExpectationFailed: refusal('expectation_failed'),
  RateLimited: refusal('rate_limited'),
  HeadersTooLarge: refusal('headers_too_large'),
  InternalError: refusal('internal_error'),
  Unavailable: refusal('unavailable'),
}

const response = (name: keyof typeof responses) => ({ $ref: `#/components/responses/${name}` })

const ofEveryRequest = {
  400: response('Malformed'),
  408: response('Timeout'),
  417: response('ExpectationFailed'),
  431: response('HeadersTooLarge'),
  500: response('InternalError'),
  503: response('Unavailable'),
}

/** `/:id` → `/{id}` */
const templateOf = (path: string): string => path.replace(/:(\w+)/, '{$1}')
const inPath = (name: string) => ({ name, in: 'path', required: true, schema: { type: 'string' } })

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

const document = {
  get: {
    operationId: 'openapi',
    summary: 'This document',
    tags: ['settings'],
    security: [],
    responses: {
      ...ofEveryRequest,
      200: { description: 'OpenAPI 3.1.', content: json({ type: 'object' }) },
    },
  },
}

const ofOperators = {
  ...ofEveryRequest,
  401: response('InvalidOperatorKey'),
  404: response('NotFound'),
}

const operatorPaths = {
  [deletionsPath]: {
    post: {
      operationId: 'deleteUsers',
      summary: 'Delete users, and tell their destinations',
      tags: ['operators'],
      security: [{ operator: [] }],
      requestBody: { required: true, content: json(schema('DeletionRequest')) },
      responses: {
        ...ofOperators,
        202: { description: 'All replicas of Kafka have it.', content: json(schema('DeletionAccepted')) },
        400: response('DeletionNotTaken'),
        413: response('TooLarge'),
      },
    },
  },
  [templateOf(deletionPath)]: {
    get: {
      operationId: 'deletion',
      summary: 'How a deletion goes, by source and destination',
      tags: ['operators'],
      security: [{ operator: [] }],
      parameters: [inPath('id')],
      responses: { ...ofOperators, 200: { description: 'As of now.', content: json(schema('Deletion')) } },
    },
  },
  [templateOf(syncsPath)]: {
    post: {
      operationId: 'syncAudience',
      summary: 'Tell who is in an audience, or has which value of a computed trait',
      description:
        'A body of any length, one user a line; it is read as fast as Kafka takes it. Cut short, or with a wrong line, it takes nobody out.',
      tags: ['operators'],
      security: [{ operator: [] }],
      parameters: [inPath('name'), ...syncParameters],
      requestBody: memberList,
      responses: {
        ...ofOperators,
        202: { description: 'All replicas of Kafka have all of it.', content: json(schema('SyncTaken')) },
        400: response('ListNotTaken'),
        404: response('UnknownAudience'),
      },
    },
  },
}

/** The tracking API and the operator API as OpenAPI 3.1, from the same tables as its routes and answers. */
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
        'Paths for operators answer 404 unless `collector.operatorKey` is configured.',
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
      ...operatorPaths,
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
        operator: { type: 'http', scheme: 'bearer', description: '`collector.operatorKey`.' },
      },
    },
  }
}
