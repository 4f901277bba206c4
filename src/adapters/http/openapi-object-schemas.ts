import { z } from 'zod'
import { pageLimits } from '../../core/operator/object-query.ts'
import { destinationStates } from '../../core/operator/object-view.ts'
import { maxWriteKeys } from '../../core/operator/rotation.ts'
import { destination, source } from '../../core/settings/source-and-destination.ts'

type Schema = Readonly<Record<string, unknown>>

const text = { type: 'string' } as const
const time = { type: 'string', description: 'ISO 8601, UTC.' } as const
const count = { type: 'integer', minimum: 0 } as const
const flag = { type: 'boolean' } as const
const list = (items: Schema): Schema => ({ type: 'array', items })
const reference = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` })
const closed = (properties: Readonly<Record<string, Schema>>, optional: readonly string[] = []): Schema => ({
  type: 'object',
  required: Object.keys(properties).filter(name => !optional.includes(name)),
  properties,
  additionalProperties: false,
})

/** The schema of a document: that of an entry in the configuration file, without names of files. */
function documentSchema(entry: z.ZodType): Schema {
  const { $schema: _, properties, required, ...rest } = z.toJSONSchema(entry, { io: 'input', target: 'draft-2020-12' })
  const own = Object.entries(properties ?? {}).filter(([name]) => !name.endsWith('File'))
  return { ...rest, properties: Object.fromEntries(own), required: required?.filter(name => name !== 'id') }
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
  problems,
  document: { description: 'The document. Each secret is `***`, and URLs show only their host.', type: 'object' },
  fingerprints: {
    type: 'object',
    additionalProperties: text,
    description: 'The first 8 hex digits of the SHA-256 of each secret of at least 16 characters, by path.',
  },
} as const satisfies Readonly<Record<string, Schema>>
const ofFile = ['changedBy', 'changedAt']
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
        },
        ['status', 'failure'],
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
      partial: { const: true, description: 'Present when Kafka did not report all offsets in 5 seconds.' },
      groups: list(closed({ group: text, topics: list(closed({ topic: text, lag: count })) })),
      waiting: { ...list(closed({ tier: text, records: count })), description: 'Records that wait in retry topics.' },
      destinations: closed(Object.fromEntries(destinationStates.map(state => [state, count]))),
      sources: closed({ enabled: count, excluded: count }),
      problems: { ...list(closed({ kind: view.kind, id: text, conflict: flag, problems })), maxItems: 100 },
    },
    ['partial'],
  ),
  DestinationStatus: closed(
    {
      id: text,
      state: view.state,
      version: view.version,
      problems,
      partial: { const: true, description: 'Present when only a part of the retry topics was read.' },
      waiting: list(closed({ tier: text, records: count, oldestAt: time })),
    },
    ['partial'],
  ),
}
