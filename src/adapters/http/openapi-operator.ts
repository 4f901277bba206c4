import { documentPath, keysPath } from './api-paths-and-methods.ts'
import { deletionAndSyncPaths } from './openapi-deletion-and-sync-paths.ts'
import { deletionAndSyncSchemas } from './openapi-deletion-and-sync-schemas.ts'
import { jobOperations, jobSchemas } from './openapi-jobs.ts'
import { messageAndDeadLetterPaths, messageAndDeadLetterSchemas } from './openapi-messages-and-dead-letters.ts'
import { objectParameters, objectPaths } from './openapi-object-paths.ts'
import { objectSchemas } from './openapi-object-schemas.ts'
import { refusalResponses } from './openapi-operation-and-error-codes.ts'
import { document, responses } from './openapi-responses-and-references.ts'
import { sessionPaths } from './openapi-session.ts'
import { publicKeys } from './openapi-signing-keys.ts'
import { statusLedgerAndAudiencePaths } from './openapi-status-ledger-and-audience-paths.ts'
import { statusLedgerAndAudienceSchemas } from './openapi-status-ledger-and-audience-schemas.ts'
import { schemas } from './openapi-tracking-schemas.ts'

/*
 * This file composes the OpenAPI 3.1 document of the operator API from the parts in the other files
 * `openapi-*.ts`.
 */

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
      'The session cookie that the sign-in sets. Each request except GET and HEAD also needs the CSRF token of the session in the header `X-CSRF-Token`. If the header Host has a port, the name of the cookie ends in `_` and the port, for example `hookline_session_8090`.',
  },
} as const

/**
 * Returns the OpenAPI document of the operator API. The document and the routes take the paths from
 * the same constants.
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
        'Every error response is a JSON object with `code`, `message` and either `problems` or `error`. `problems` is a list of invalid values, and can be empty. `error` has the same text as `message`. Responses on the paths of deletions and syncs, and on paths that do not exist, have `error`. Responses on all other paths usually have `problems`. They can have `error` if the status is 405, 408, 417, 431 or 500, or the code is `malformed_request`.',
      ].join('\n'),
      license: { name: 'Apache 2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: 'http://127.0.0.1:8090' }],
    tags: [{ name: 'objects' }, { name: 'operators' }, { name: 'sessions' }, { name: 'settings' }],
    security: [{ operator: [] }, { session: [] }],
    paths: {
      ...{ ...objectPaths, ...statusLedgerAndAudiencePaths, ...messageAndDeadLetterPaths, ...jobOperations },
      ...{ ...deletionAndSyncPaths, ...sessionPaths },
      ...{ [documentPath]: document, [keysPath]: publicKeys },
    },
    components: {
      schemas: {
        ...{ ...schemas, ...deletionAndSyncSchemas, ...objectSchemas, ...statusLedgerAndAudienceSchemas },
        ...{ ...messageAndDeadLetterSchemas, ...jobSchemas },
      },
      responses: { ...responses, ...refusalResponses },
      parameters: objectParameters,
      securitySchemes: operatorSecurity,
    },
  }
}
