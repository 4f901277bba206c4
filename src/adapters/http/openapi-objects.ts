import { objectKinds } from '../../core/config-objects/config-objects.ts'
import { pageLimits } from '../../core/operator/object-query.ts'
import { type ObjectRefusalCode, objectRefusalStatus } from '../../core/operator/object-refusal.ts'
import { destinationStates } from '../../core/operator/object-view.ts'
import { switches } from '../../core/operator/objects-api.ts'
import { inPath, json, ofEveryRequest, response, templateOf } from './openapi-components.ts'
import {
  changesPath,
  destinationPath,
  destinationStatusPath,
  destinationsPath,
  rotateKeyPath,
  rotateSecretPath,
  sourcePath,
  sourcesPath,
  statusPath,
  switchPath,
  testPath,
} from './paths.ts'

/* The paths for destinations, sources, changes and status as OpenAPI 3.1. */

type Operation = Readonly<Record<string, unknown>>

/** What each error code means. The reference of errors has the same texts. */
export const objectMeanings: Readonly<Record<ObjectRefusalCode, string>> = {
  invalid_json: 'the body is not JSON, has a key twice, is nested too deeply, or has half of a surrogate pair',
  invalid_body: 'the body does not have the form that this path requires; `problems` says what to correct',
  invalid_query: 'a query parameter is unknown, given twice, or not valid; `problems` says which',
  invalid_precondition: '`If-Match`, `If-None-Match` or `Idempotency-Key` is not valid',
  not_found: 'there is no object or job with this id',
  defined_in_file: 'the configuration file defines the object, so only a change of that file can change it',
  encryption_key_missing: '`operator.encryptionKeyFile` is not set, so no object can be created or changed',
  rotation_in_progress: 'the destination already has two shared secrets, the maximum',
  too_many_keys: 'the source already has three write keys, the maximum; send `keep`',
  too_many_jobs: '100 replays and resends have not ended yet',
  not_in_use: 'the destination is excluded, because its document has problems',
  in_use: 'another object or a setting uses this object, so it was not deleted; `problems` says which',
  precondition_failed:
    'the condition of `If-Match` or `If-None-Match` is false: the object has another version, already exists, or does not exist; the header `ETag` of the response has the current version',
  invalid_object: 'the document is not valid; `problems` lists all problems, and nothing was changed',
  precondition_required: 'the object exists, and the request has no `If-Match`',
  unavailable:
    'Hookline could not confirm the change, which may be in force nevertheless, so read the object first; or Kafka did not respond to a read in time, or too many test messages are in progress, so send the request again later',
}

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })

/** The error responses with these codes, by status. */
function refusals(codes: readonly ObjectRefusalCode[]): Readonly<Record<string, object>> {
  const byStatus = Object.groupBy(codes, code => objectRefusalStatus[code])
  return Object.fromEntries(
    Object.entries(byStatus).map(([status, own = []]) => [
      status,
      {
        description: own.map(code => `\`${code}\`: ${objectMeanings[code]}.`).join('\n'),
        content: json({ ...ref('ObjectRefusal'), properties: { code: { enum: own } } }),
      },
    ]),
  )
}

const ofOperators = {
  ...ofEveryRequest,
  401: response('InvalidOperatorKey'),
  403: response('Forbidden'),
  429: response('TooManyWrongKeys'),
}

interface Described {
  readonly id: string
  readonly summary: string
  readonly description?: string
  readonly parameters?: readonly object[]
  /** The name of the schema of the body, and whether the body is required. */
  readonly body?: readonly [schema: string, required: boolean]
  /** The name of the schema of the 200 response. */
  readonly answer?: string
  readonly more?: Readonly<Record<string, object>>
  readonly codes?: readonly ObjectRefusalCode[]
}

export const operation = ({
  id,
  summary,
  description,
  parameters,
  body,
  answer,
  more,
  codes = [],
}: Described): Operation => ({
  operationId: id,
  summary,
  ...(description !== undefined && { description }),
  tags: ['objects'],
  ...(parameters !== undefined && { parameters }),
  ...(body !== undefined && { requestBody: { required: body[1], content: json(ref(body[0])) } }),
  responses: {
    ...ofOperators,
    ...refusals(codes),
    ...(body !== undefined && { 413: response('TooLarge') }),
    ...(answer !== undefined && { 200: { description: 'Done.', content: json(ref(answer)) } }),
    ...more,
  },
})

export const inQuery = (name: string, schema: object, description: string) => ({
  name,
  in: 'query',
  schema,
  description,
})
const text = { type: 'string' }
const ifMatch = {
  name: 'If-Match',
  in: 'header',
  schema: text,
  description: 'The version that the client has read, as in `ETag`, for example `"3"`; or `*` for any version.',
}
const ifNoneMatch = {
  name: 'If-None-Match',
  in: 'header',
  schema: { enum: ['*'] },
  description: '`*`: the request only creates the object, and changes nothing if the object exists.',
}
const dryRun = inQuery(
  'dryRun',
  { enum: ['true', 'false'], default: 'false' },
  '`true`: Hookline only checks the change and writes nothing. The response says what the request would change.',
)
const paging = [
  inQuery('after', text, 'The id after which the page begins: the value of `next` in the previous page.'),
  inQuery(
    'limit',
    { type: 'integer', minimum: 1, maximum: pageLimits.max, default: pageLimits.default },
    'Maximum number of entries on the page.',
  ),
  inQuery('q', text, 'Only objects whose id or shown URL contains this text.'),
]
const ofDestinations = [
  inQuery('state', { enum: destinationStates }, 'Only destinations in this state.'),
  inQuery('source', text, 'Only destinations of this source.'),
]
const id = inPath('id')
const ofChanges = [
  'invalid_query',
  'not_found',
  'defined_in_file',
  'encryption_key_missing',
  'precondition_failed',
  'unavailable',
] as const
const ofDocuments = ['invalid_json', 'invalid_body', 'invalid_precondition', 'invalid_object', ...ofChanges] as const
const needsPrecondition = ['precondition_required'] as const
const created = { 201: { description: 'Hookline has created the object.', content: json(ref('ChangedObject')) } }

const paths = {
  destination: { all: destinationsPath, one: destinationPath, Name: 'Destination', filters: ofDestinations },
  source: { all: sourcesPath, one: sourcePath, Name: 'Source', filters: [] },
} as const

const ofKind = (kind: (typeof objectKinds)[number]): Readonly<Record<string, object>> => {
  const { all, one, Name, filters } = paths[kind]
  const document = `${Name}Document`
  return {
    [all]: {
      get: operation({
        ...{ id: `list${Name}s`, summary: `List ${kind}s in the order of their ids`, answer: `${Name}Page` },
        ...{ parameters: [...paging, ...filters], codes: ['invalid_query'] },
      }),
    },
    [templateOf(one)]: {
      get: operation({
        ...{ id: `get${Name}`, summary: `Show a ${kind}`, parameters: [id], answer: 'Object', codes: ['not_found'] },
      }),
      put: operation({
        ...{ id: `put${Name}`, summary: `Create or replace a ${kind}`, answer: 'ChangeResult', more: created },
        description:
          'A secret with the value `***` keeps its stored value. Without `If-Match`, the request can only create an object.',
        ...{ parameters: [id, ifMatch, ifNoneMatch, dryRun], body: [document, true] },
        codes: [...ofDocuments, ...needsPrecondition],
      }),
      patch: operation({
        ...{
          id: `patch${Name}`,
          summary: `Change a ${kind} with a JSON Merge Patch (RFC 7396)`,
          answer: 'ChangeResult',
        },
        ...{
          parameters: [id, ifMatch, dryRun],
          body: ['ObjectPatch', true],
          codes: [...ofDocuments, ...needsPrecondition],
        },
      }),
      delete: operation({
        ...{
          id: `delete${Name}`,
          summary: `Delete a ${kind}`,
          parameters: [id, ifMatch, dryRun],
          answer: 'CheckedChange',
        },
        more: { 204: { description: 'Hookline has deleted the object.' } },
        codes: ['invalid_precondition', ...ofChanges, 'in_use', ...needsPrecondition],
      }),
    },
  }
}

const switchTexts = { pause: 'Pause', resume: 'Resume', enable: 'Enable', disable: 'Disable' } as const
const switchPaths = Object.fromEntries(
  switches.map(to => [
    templateOf(switchPath(to)),
    {
      post: operation({
        ...{ id: `${to}Destination`, summary: `${switchTexts[to]} a destination`, answer: 'ChangedObject' },
        description: 'If the destination is already in this state, the request changes nothing.',
        ...{ parameters: [id, ifMatch], codes: ['invalid_precondition', ...ofChanges] },
      }),
    },
  ]),
)

export const objectPaths: Readonly<Record<string, object>> = {
  ...Object.assign({}, ...objectKinds.map(ofKind)),
  ...switchPaths,
  [templateOf(rotateSecretPath)]: {
    post: operation({
      ...{ id: 'rotateSecret', summary: 'Give a destination a new shared secret', answer: 'RotatedSecret' },
      description:
        'For the time in `overlap`, the old secret signs `X-Signature`, and both secrets sign the Standard Webhooks headers.',
      ...{ parameters: [id, ifMatch], body: ['RotateSecret', false] },
      codes: ['invalid_json', 'invalid_body', 'invalid_precondition', ...ofChanges, 'rotation_in_progress'],
    }),
  },
  [templateOf(testPath)]: {
    post: operation({
      ...{ id: 'testDestination', summary: 'Send a test message to each webhook now', answer: 'TestResult' },
      description:
        'Hookline sends the message immediately, outside of the queues and without retries, even if the destination is paused or disabled.',
      ...{ parameters: [id], codes: ['not_found', 'not_in_use', 'unavailable'] },
    }),
  },
  [templateOf(destinationStatusPath)]: {
    get: operation({
      ...{
        id: 'destinationStatus',
        summary: 'Show the circuit breaker, the results, the waiting deliveries and the last failures of a destination',
        answer: 'DestinationStatus',
      },
      ...{ parameters: [id], codes: ['not_found'] },
    }),
  },
  [templateOf(rotateKeyPath)]: {
    post: operation({
      ...{ id: 'rotateKey', summary: 'Give a source a new write key', answer: 'RotatedKey' },
      ...{ parameters: [id, ifMatch], body: ['RotateKey', false] },
      codes: ['invalid_json', 'invalid_body', 'invalid_precondition', ...ofChanges, 'too_many_keys'],
    }),
  },
  [changesPath]: {
    get: operation({
      ...{ id: 'changes', summary: 'List the changes of destinations and sources, newest first', answer: 'Changes' },
      parameters: [
        inQuery(
          'since',
          text,
          'ISO 8601, or a duration before now such as 24h. Absent: all changes that Hookline still has.',
        ),
      ],
      codes: ['invalid_query'],
    }),
  },
  [statusPath]: {
    get: operation({
      ...{
        id: 'status',
        summary: 'Show the consumer lag, the waiting records and the number of objects in each state',
        answer: 'InstallationStatus',
      },
    }),
  },
}
