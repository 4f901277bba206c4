import { syncModes } from '../../core/audience/sync.ts'
import { mostUsers } from '../../core/deletion/request.ts'

/* What the operator API takes and gives, as JSON Schema (draft 2020-12). Closed on both sides: what is misspelt is refused. */

const state = {
  enum: ['running', 'finished', 'failed'],
  description: 'Running: something waits. Failed: nothing does, but something was not delivered.',
}
const count = { type: 'integer', minimum: 0, description: 'Users.' }

export const operatorSchemas = {
  DeletionRequest: {
    type: 'object',
    required: ['userIds'],
    properties: {
      userIds: {
        type: 'array',
        items: { type: ['string', 'integer'], minLength: 1 },
        minItems: 1,
        maxItems: mostUsers,
        description: 'A number means its digits.',
      },
      sources: {
        type: ['array', 'null'],
        items: { type: 'string' },
        minItems: 1,
        description: 'Ids of the affected sources. Absent: every source with an enabled destination.',
      },
      suppress: { type: 'boolean', default: false, description: 'Take nothing of these users from now on.' },
    },
    additionalProperties: false,
  },
  DeletionAccepted: {
    type: 'object',
    required: ['id', 'status'],
    properties: { id: { type: 'string' }, status: state },
    additionalProperties: false,
  },
  Deletion: {
    type: 'object',
    required: ['id', 'status', 'createdAt', 'sources'],
    properties: {
      id: { type: 'string' },
      status: state,
      createdAt: { type: 'string', description: 'ISO 8601, UTC.' },
      partial: {
        const: true,
        description: 'Only so much of the topic was read: more deliveries may have ended than the counts say.',
      },
      sources: {
        type: 'array',
        items: {
          type: 'object',
          required: ['id', 'destinations'],
          properties: {
            id: { type: 'string' },
            destinations: {
              type: 'array',
              items: {
                type: 'object',
                required: ['id', 'status', 'delivered', 'undelivered', 'waiting'],
                properties: {
                  id: { type: 'string' },
                  status: state,
                  delivered: count,
                  undelivered: count,
                  waiting: count,
                },
                additionalProperties: false,
              },
            },
          },
          additionalProperties: false,
        },
      },
    },
    additionalProperties: false,
  },
  SyncTaken: {
    type: 'object',
    required: ['syncId', 'received'],
    properties: {
      syncId: { type: 'integer', description: 'Later syncs have larger ones.' },
      received: { type: 'integer', minimum: 0, description: 'Lines that named somebody.' },
    },
    additionalProperties: false,
  },
} as const

export const syncParameters = [
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
export const memberList = {
  required: true,
  description: 'One user a line, in UTF-8, plain or gzip; a line has at most 32,768 bytes.',
  content: { 'application/x-ndjson': { schema: line }, 'text/plain': { schema: line }, 'text/csv': { schema: line } },
} as const
