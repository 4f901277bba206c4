import { syncModes } from '../../core/audience/sync.ts'
import { document, inPath, json, ofEveryRequest, response, responses, schema, templateOf } from './openapi-parts.ts'
import { operatorSchemas, schemas } from './openapi-schemas.ts'
import { deletionPath, deletionsPath, documentPath, syncsPath } from './paths.ts'

/* What the operator API takes and gives, as JSON Schema (draft 2020-12). Closed on both sides: what is misspelt is refused. */

const syncParameters = [
  {
    name: 'mode',
    in: 'query',
    description:
      'Full: these users and no others. Partial: only adds, and takes out by the value false (a trait: null).',
    schema: { enum: syncModes, default: 'full' },
  },
  {
    name: 'allowEmpty',
    in: 'query',
    description: 'Whether a full list of nobody, which takes everybody out, is meant.',
    schema: { enum: ['true', 'false'], default: 'false' },
  },
] as const

const line = {
  type: 'string',
  description:
    'A JSON object `{"userId", "value"}`, a JSON string or number that is the id, or the id as it is. CSV where the first line names a field `userId`.',
}

/** Told by its bytes, whatever Content-Type says, as everywhere. */
const memberList = {
  required: true,
  description: 'One user a line, in UTF-8, plain or gzip; a line has at most 32,768 bytes.',
  content: { 'application/x-ndjson': { schema: line }, 'text/plain': { schema: line }, 'text/csv': { schema: line } },
} as const

const operators = [{ operator: [] }]
export const operatorSecurity = {
  operator: { type: 'http', scheme: 'bearer', description: 'A key of `operator.keys`.' },
} as const

const ofOperators = {
  ...ofEveryRequest,
  401: response('InvalidOperatorKey'),
  403: response('Forbidden'),
  404: response('NotFound'),
  429: response('TooManyWrongKeys'),
}

export const operatorPaths = {
  [deletionsPath]: {
    post: {
      operationId: 'deleteUsers',
      summary: 'Delete users, and tell their destinations',
      tags: ['operators'],
      security: operators,
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
      security: operators,
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
      security: operators,
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

/** The operator API on its own listener as OpenAPI 3.1, from the same tables as its routes and answers. */
export function operatorDocument(): object {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Hookline operator API',
      version: '1',
      summary: 'Deletions of users, and syncs of audiences.',
      description: [
        'It listens at `operator.listen` when `operator.keys` has a key. A key with the role `read` may send GET requests only.',
        'A path may end in a slash. There are no CORS headers: pages of other origins cannot use it.',
        'An error is a JSON object that has `code`, `message` and `error`.',
      ].join('\n'),
      license: { name: 'Apache 2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: 'http://127.0.0.1:8090' }],
    tags: [{ name: 'operators' }, { name: 'settings' }],
    security: operators,
    paths: { ...operatorPaths, [documentPath]: document },
    components: {
      schemas: { ...schemas, ...operatorSchemas },
      responses,
      securitySchemes: operatorSecurity,
    },
  }
}
