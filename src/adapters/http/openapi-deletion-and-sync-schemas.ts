import { maxUserSourcePairs, maxUsers } from '../../core/deletion/deletion-request.ts'

const state = {
  enum: ['running', 'finished', 'failed'],
  description:
    '`running`: some delete messages are waiting for delivery. `finished`: all were delivered. `failed`: none is waiting, but some could not be delivered.',
}
const users = (description: string) => ({ type: 'integer', minimum: 0, description })

/**
 * Requests and responses for deletions and syncs. Hookline refuses unknown properties, so that a
 * misspelt one is an error.
 */
export const deletionAndSyncSchemas = {
  DeletionRequest: {
    type: 'object',
    required: ['userIds'],
    properties: {
      userIds: {
        type: 'array',
        items: { type: ['string', 'integer'], minLength: 1 },
        minItems: 1,
        maxItems: maxUsers,
        description:
          'Ids of the users to delete. Hookline converts a number to text (17 becomes "17"), and refuses a number with a decimal point or an exponent.',
      },
      sources: {
        type: ['array', 'null'],
        items: { type: 'string' },
        minItems: 1,
        description: `Ids of the sources whose destinations get delete messages. The number of users times the number of sources must be at most ${maxUserSourcePairs}. Default: every source with an enabled destination.`,
      },
      suppress: {
        type: 'boolean',
        default: false,
        description:
          'Whether Hookline also drops new messages of these users, until you run `hookline unsuppress-user`.',
      },
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
        description:
          'Present if Hookline read only a part of the deletions topic. The counts of finished deliveries may then be too low.',
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
                  delivered: users('Number of users whose delete message was delivered.'),
                  undelivered: users('Number of users whose delete message was dead-lettered or dropped.'),
                  waiting: users('Number of users whose delete message has no result yet.'),
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
      syncId: { type: 'integer', description: 'Id of the sync. Ids of later syncs are higher.' },
      received: { type: 'integer', minimum: 0, description: 'Number of lines with a user in the uploaded list.' },
    },
    additionalProperties: false,
  },
} as const
