import { z } from 'zod'
import { pageLimits } from '../../core/operator/object-query.ts'
import { destinationStates } from '../../core/operator/object-view.ts'
import { maxWriteKeys } from '../../core/operator/rotation.ts'
import { destination, source } from '../../core/settings/source-and-destination.ts'
import { liveDestination, liveInstallation } from './openapi-live-status.ts'
import { closed, count, flag, list, reference, type Schema, text, time } from './openapi-parts.ts'

/** The schema of a document: that of an entry in the configuration file, without names of files. */
function documentSchema(entry: z.ZodType): Schema {
  const { $schema: _, properties, required, ...rest } = z.toJSONSchema(entry, { io: 'input', target: 'draft-2020-12' })
  const own = Object.entries(properties ?? {}).filter(([name]) => !name.endsWith('File'))
  return { ...rest, properties: Object.fromEntries(own), required: required?.filter(name => name !== 'id') }
}

const disabledAutomatically = {
  ...closed({
    at: time,
    reason: { enum: ['failing', 'gone'] },
    failingSince: { ...time, description: 'No attempt has succeeded since then. ISO 8601, UTC.' },
  }),
  description:
    'Present when Hookline has disabled the destination: `failing` by `lifecycle.disableAfter`, `gone` by `lifecycle.onGone`. The document still says that it is enabled.',
}
const problems = { ...list(reference('ObjectProblem')), maxItems: 100 }
const view = {
  id: text,
  kind: { enum: ['destination', 'source'] },
  origin: { enum: ['file', 'api'], description: '`file`: from the configuration file, read-only.' },
  version: { ...count, description: 'Increases by 1 with each change; 0 for an object of the configuration file.' },
  state: {
    enum: destinationStates,
    description: '`excluded`: not in force, because of `problems`. A source is `enabled` or `excluded`.',
  },
  conflict: { ...flag, description: 'Whether the configuration file hides an object of the same id.' },
  changedBy: { ...text, description: 'The name of the operator key.' },
  changedAt: time,
  disabledAutomatically,
  problems,
  document: { description: 'The document. Each secret is `***`, and URLs show only their host.', type: 'object' },
  fingerprints: {
    type: 'object',
    additionalProperties: text,
    description: 'The first 8 hex digits of the SHA-256 of each secret of at least 16 characters, by path.',
  },
} as const satisfies Readonly<Record<string, Schema>>
const ofFile = ['changedBy', 'changedAt', 'disabledAutomatically']
const changed = { ...view, changedFields: list(text) }
const page = (name: string): Schema =>
  closed({ [name]: { ...list(reference('Object')), maxItems: pageLimits.max }, next: text }, ['next'])

/** The JSON bodies of the routes for destinations, sources, changes and status. */
export const objectSchemas: Readonly<Record<string, Schema>> = {
  DestinationDocument: documentSchema(destination),
  SourceDocument: documentSchema(source),
  ObjectPatch: {
    type: 'object',
    description: 'The members to change: null removes a member, an object is merged, other values replace.',
  },
  ObjectProblem: closed({
    path: { ...text, description: 'Empty for the whole document.' },
    message: text,
    hint: text,
  }),
  ObjectRefusal: closed({
    code: { ...text, description: 'For programs. Codes are stable.' },
    message: { ...text, description: 'For people: what happened, and what to do.' },
    problems,
  }),
  Object: closed(view, ofFile),
  ChangedObject: closed(changed, ofFile),
  CheckedChange: closed({
    dryRun: { const: true, description: 'The change is possible. Nothing was written.' },
    created: { type: 'boolean', description: 'Whether the change would create the object.' },
    changedFields: list(text),
  }),
  ChangeResult: {
    description: 'The changed object. With `dryRun=true`, `CheckedChange`, or the object when nothing would change.',
    anyOf: [reference('ChangedObject'), reference('CheckedChange')],
  },
  RotatedSecret: closed(
    {
      ...changed,
      secret: { ...text, description: 'The new secret. It is shown only here.' },
      rotatesAt: { ...time, description: 'When the new secret replaces the old one. Absent: it has replaced it.' },
    },
    [...ofFile, 'rotatesAt'],
  ),
  RotatedKey: closed(
    {
      ...changed,
      writeKey: { ...text, description: 'The new write key. It is shown only here.' },
      keys: { ...count, description: 'Number of valid write keys.' },
    },
    ofFile,
  ),
  DestinationPage: page('destinations'),
  SourcePage: page('sources'),
  RotateSecret: closed(
    { overlap: { ...text, default: '24h', description: 'How long the old secret stays in use, at most 720h.' } },
    ['overlap'],
  ),
  RotateKey: closed(
    {
      keep: {
        type: 'integer',
        minimum: 0,
        maximum: maxWriteKeys - 1,
        description: 'Number of earlier keys to keep. Absent: all.',
      },
    },
    ['keep'],
  ),
  TestResult: closed({
    messageId: text,
    body: { ...text, description: 'The body of each request.' },
    delivered: { ...flag, description: 'Whether a webhook accepted the message.' },
    responses: list(
      closed(
        {
          webhook: { ...text, description: 'The id of the webhook, or its position.' },
          request: closed({ url: text, headers: { type: 'object', additionalProperties: text } }),
          outcome: { ...text, description: 'See the outcomes of a request in the reference of errors.' },
          status: { type: 'integer' },
          failure: closed({ phase: text, code: text, detail: text }),
          tookMs: { ...count, description: 'Milliseconds until the response or the failure.' },
          responseBody: {
            ...closed(
              {
                text: { ...text, description: 'Read as UTF-8. Absent when the body is compressed.' },
                contentEncoding: { ...text, description: 'The compression, for example gzip.' },
                truncated: { ...flag, description: 'Whether the body is longer, or did not arrive completely.' },
              },
              ['text', 'contentEncoding'],
            ),
            description: 'The first 4 KiB of the body of the response.',
          },
        },
        ['status', 'failure', 'responseBody'],
      ),
    ),
  }),
  Changes: closed({
    changes: {
      ...list(
        closed({
          kind: view.kind,
          id: text,
          version: count,
          action: { enum: ['created', 'updated', 'deleted'] },
          by: view.changedBy,
          fields: { ...list(text), description: 'Paths of the changed fields.' },
          at: time,
        }),
      ),
      maxItems: 1_000,
    },
  }),
  InstallationStatus: closed(
    {
      at: time,
      version: { ...text, description: 'The version of the process that answers.' },
      partial: {
        const: true,
        description: 'Present when Kafka did not report all offsets in 5 seconds, or the status topic is not read yet.',
      },
      groups: list(closed({ group: text, topics: list(closed({ topic: text, lag: count })) })),
      waiting: { ...list(closed({ tier: text, records: count })), description: 'Records that wait in retry topics.' },
      destinations: closed(Object.fromEntries(destinationStates.map(state => [state, count]))),
      sources: closed({ enabled: count, excluded: count }),
      problems: { ...list(closed({ kind: view.kind, id: text, conflict: flag, problems })), maxItems: 100 },
      ...liveInstallation,
    },
    ['partial'],
  ),
  DestinationStatus: closed(
    {
      id: text,
      state: view.state,
      version: view.version,
      disabledAutomatically,
      problems,
      partial: { const: true, description: 'Present when only a part of the topics was read.' },
      waiting: list(closed({ tier: text, records: count, oldestAt: time })),
      ...liveDestination,
      lastFailures: { ...list(reference('FailedAttempt')), maxItems: 50 },
    },
    ['partial', 'pace', 'lastFailures', 'disabledAutomatically'],
  ),
}
