import { syncModes } from '../../core/audience/sync-watermark.ts'
import { deletionPath, deletionsPath, documentPath, keysPath, syncsPath } from './api-paths-and-methods.ts'
import { jobOperations, jobSchemas } from './openapi-jobs.ts'
import { messageAndDeadLetterPaths, messageAndDeadLetterSchemas } from './openapi-messages-and-dead-letters.ts'
import { objectParameters, objectPaths } from './openapi-object-status-ledger-paths.ts'
import { objectSchemas } from './openapi-object-status-ledger-schemas.ts'
import { refusalResponses } from './openapi-operation-and-error-codes.ts'
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
import { sessionPaths } from './openapi-session.ts'
import { operatorSchemas, schemas, signingKeys } from './openapi-tracking-deletion-sync-schemas.ts'

/*
 * This file describes the paths of the operator API in OpenAPI 3.1. `operatorSchemas` describes the
 * JSON bodies.
 */

const syncParameters = [
  {
    name: 'mode',
    in: 'query',
    description:
      '`full`: the list has all members, and Hookline removes the users who are not in it. `partial`: Hookline changes only the users in the list; the value `false` (for a computed trait: `null`) removes a user.',
    schema: { enum: syncModes, default: 'full' },
  },
  {
    name: 'allowEmpty',
    in: 'query',
    description: '`true`: Hookline accepts an empty list in the mode `full`, and removes all members.',
    schema: { enum: ['true', 'false'], default: 'false' },
  },
] as const

const line = {
  type: 'string',
  description:
    'One user in one of these forms: a JSON object with the keys `userId` and `value`, only the user id as a JSON string or number, or only the user id as plain text. A user without a value is added to the audience. A computed trait needs a value for each user. The list is CSV if its first line that is not blank has a column `userId`. The values are then in the column `value`, which the list of a computed trait must have. An empty value adds the user to an audience, or removes the computed trait from the user.',
}

/**
 * The request body of a sync. Hookline ignores Content-Type, and detects the format from the
 * content.
 */
const memberList = {
  required: true,
  description: 'One user per line, in UTF-8, plain or gzip; at most 32,768 bytes per line.',
  content: { 'application/x-ndjson': { schema: line }, 'text/plain': { schema: line }, 'text/csv': { schema: line } },
} as const

export const operatorSecurity = {
  operator: {
    type: 'http',
    scheme: 'bearer',
    description: 'An operator key: a key of `operator.keys` in the configuration.',
  },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: 'hookline_session',
    description:
      'The session cookie that the sign-in sets. If the header Host has a port, the name of the cookie ends in `_` and the port, for example `hookline_session_8090`. Each request except GET and HEAD also needs, in `X-CSRF-Token`, the CSRF token from the response to the sign-in. Hookline refuses the cookie in requests that a page of another origin sends.',
  },
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
      summary: 'Delete users, and send delete messages to destinations',
      tags: ['operators'],
      description:
        'The response is a 503 with the code `unavailable` if the id or the sources of a destination are not known, because the file or configuration object of the destination has an error. This destination could otherwise miss its delete messages. `message` says what to correct.',
      requestBody: { required: true, content: json(schema('DeletionRequest')) },
      responses: {
        ...ofOperators,
        202: {
          description:
            'Kafka has stored the deletion (in all in-sync replicas). The destinations receive the delete messages later: see the status of the deletion.',
          content: json(schema('DeletionAccepted')),
        },
        400: response('DeletionNotTaken'),
        413: response('TooLarge'),
      },
    },
  },
  [templateOf(deletionPath)]: {
    get: {
      operationId: 'deletion',
      summary: 'Show the status of a deletion for each source and destination',
      tags: ['operators'],
      description:
        'A request searches the deletions topic for at most 1.5 seconds, and reads at most 300,000 records. If the search reaches a limit after it found the deletion, the response has `partial: true`, and results of delete messages may be missing. If the search reaches a limit before it found the deletion, the response is a 503 with the code `unavailable`: use `hookline delete-user --status`, which searches for up to 5 seconds. A 404 means that no deletion has this id.',
      parameters: [inPath('id')],
      responses: {
        ...ofOperators,
        200: { description: 'The current status of the deletion.', content: json(schema('Deletion')) },
      },
    },
  },
  [templateOf(syncsPath)]: {
    post: {
      operationId: 'syncAudience',
      summary: 'Upload the members of an audience, or the values of a computed trait',
      description:
        'The body may have any length and is read as fast as Kafka accepts records. If the upload is interrupted or a line is invalid, Hookline applies the lines before that point, but does not remove the users who are missing from the list: send the whole list again.',
      tags: ['operators'],
      parameters: [inPath('name'), ...syncParameters],
      requestBody: memberList,
      responses: {
        ...ofOperators,
        202: {
          description:
            'Kafka has stored the whole list (in all in-sync replicas). The destinations receive the changes later.',
          content: json(schema('SyncTaken')),
        },
        400: response('ListNotTaken'),
        404: response('UnknownAudience'),
      },
    },
  },
}

const publicKeys = {
  get: {
    operationId: 'signingKeys',
    summary: 'List the public keys that verify the Ed25519 signatures of requests to webhooks',
    description:
      'A JSON Web Key Set (RFC 7517). Everyone can read it without an operator key. The keys do not name their destinations. A receiver should trust only the keys of its own destination, so the receiver must request keys with the parameter `destination`.',
    tags: ['settings'],
    security: [],
    parameters: [
      {
        name: 'destination',
        in: 'query',
        description: 'Shows only the keys of the destination with this id.',
        schema: { type: 'string' },
      },
    ],
    responses: {
      ...ofEveryRequest,
      200: {
        description:
          'The public keys. The set is empty if no destination has a signing key, or if the selected destination has none.',
        content: json(signingKeys),
      },
    },
  },
}

/**
 * Returns the OpenAPI document of the operator API. Its paths come from the same tables as the
 * routes.
 */
export function operatorDocument(): object {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Hookline operator API',
      version: '1',
      summary:
        'Manages destinations and sources, shows messages and dead letters, runs replays and resends, deletes users, and syncs audiences.',
      description: [
        'The API listens at `operator.listen` when `operator.keys` has a key. A key with the role `read` may send GET and HEAD requests only.',
        'A path may end in a slash. There are no CORS headers: web pages of other origins cannot use the API.',
        'Every error response is a JSON object with `code` and `message`. On the paths for destinations, sources, messages, dead letters, replays, resends, changes, status, the ledger, the list of audiences and the session, it also has `problems`, a list of the invalid values (may be empty). On all other paths, it also has `error`, the same text as `message`. With the status 405, 408, 417, 431 or 500, or the code `malformed_request`, it has one of the two on any path.',
      ].join('\n'),
      license: { name: 'Apache 2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: 'http://127.0.0.1:8090' }],
    tags: [{ name: 'objects' }, { name: 'operators' }, { name: 'sessions' }, { name: 'settings' }],
    security: [{ operator: [] }, { session: [] }],
    paths: {
      ...{ ...objectPaths, ...messageAndDeadLetterPaths, ...jobOperations, ...operatorPaths, ...sessionPaths },
      ...{ [documentPath]: document, [keysPath]: publicKeys },
    },
    components: {
      schemas: { ...schemas, ...operatorSchemas, ...objectSchemas, ...messageAndDeadLetterSchemas, ...jobSchemas },
      responses: { ...responses, ...refusalResponses },
      parameters: objectParameters,
      securitySchemes: operatorSecurity,
    },
  }
}
