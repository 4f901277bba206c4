import { syncModes } from '../../core/audience/audience-watermark.ts'
import { deletionPath, deletionsPath, syncsPath } from './api-paths-and-methods.ts'
import { inPath, json, ofEveryRequest, response, schema, templateOf } from './openapi-responses-and-references.ts'

const syncParameters = [
  {
    name: 'mode',
    in: 'query',
    description:
      '`full`: the list has all members, and Hookline removes the users who are not in it. `partial`: Hookline changes only the users in the list. A user with the value `false` (for a computed trait: `null`) is removed.',
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
    'A line of the list is a user id (a JSON string or plain text), or a JSON object with the keys `userId` and `value`. In a CSV list, the first line names the columns: `userId` (required) and `value`. In the list of an audience, the value of a user is optional, and can be empty in CSV. In the list of a computed trait, each user needs a value, and an empty CSV value removes the trait.',
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

const ofOperators = {
  ...ofEveryRequest,
  401: response('InvalidOperatorKey'),
  403: response('Forbidden'),
  404: response('NotFound'),
  429: response('TooManyWrongKeys'),
}

export const deletionAndSyncPaths = {
  [deletionsPath]: {
    post: {
      operationId: 'deleteUsers',
      summary: 'Delete users, and send delete messages to destinations',
      tags: ['operators'],
      description:
        'While Hookline cannot read the id or the sources of a destination, it refuses every deletion with a 503 (code `unavailable`), because this destination could miss its delete messages. `message` says what to correct.',
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
        'Hookline reads at most 300,000 records of the deletions topic, for at most 1.5 seconds. If it finds the deletion, but reaches one of these limits, the response has `partial: true`, and its counts may be too low. If it reaches a limit before it finds the deletion, the response is a 503: use `hookline delete-user --status`, which searches for up to 5 seconds. A 404 means that no deletion has this id.',
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
        'The body may have any length. If the upload is interrupted or a line is invalid, Hookline applies the lines before that point, but does not remove the users who are missing from the list: send the whole list again.',
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
