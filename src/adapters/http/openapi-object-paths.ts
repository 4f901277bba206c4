import { objectKinds } from '../../core/config-objects/config-objects.ts'
import { destinationStates } from '../../core/operator/object-view.ts'
import { switches } from '../../core/operator/objects-api.ts'
import { pageLimits } from '../../core/operator/query-parameters-and-object-page.ts'
import {
  changesPath,
  destinationPath,
  destinationStatusPath,
  destinationsPath,
  previewPath,
  rotateKeyPath,
  rotateSecretPath,
  sourcePath,
  sourcesPath,
  switchPath,
  testPath,
} from './api-paths-and-methods.ts'
import { inQuery, operation, ref } from './openapi-operation-and-error-codes.ts'
import { inPath, json, templateOf } from './openapi-responses-and-references.ts'

/* The paths for destinations and sources, and for their changes, as OpenAPI 3.1. */

const text = { type: 'string' }

/** Parameters of several operations, by name. */
export const objectParameters = {
  Id: inPath('id'),
  IfMatch: {
    name: 'If-Match',
    in: 'header',
    schema: text,
    description:
      'Hookline makes the change only if the object still has this version: the `ETag` that the client read, for example `"3"`. `*`: any version.',
  },
  DryRun: inQuery(
    'dryRun',
    { enum: ['true', 'false'], default: 'false' },
    '`true`: Hookline only checks the change and writes nothing. The response says what the request would change.',
  ),
}
const shared = (name: keyof typeof objectParameters) => ({ $ref: `#/components/parameters/${name}` })
const [id, ifMatch, dryRun] = [shared('Id'), shared('IfMatch'), shared('DryRun')]
const ifNoneMatch = {
  name: 'If-None-Match',
  in: 'header',
  schema: { enum: ['*'] },
  description: '`*`: the request only creates the object, and changes nothing if the object exists.',
}
const paging = [
  inQuery('after', text, 'The id after which the page begins: the value of `next` in the previous page.'),
  inQuery(
    'limit',
    { type: 'integer', minimum: 1, maximum: pageLimits.max, default: pageLimits.default },
    'Maximum number of entries on the page.',
  ),
  inQuery(
    'q',
    text,
    'Only objects whose id or masked webhook URL contains this text. In a masked URL, secret parts are `***`.',
  ),
]
const ofDestinations = [
  inQuery('state', { enum: destinationStates }, 'Only destinations in this state.'),
  inQuery('source', text, 'Only destinations that have this source in `sources`.'),
]
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
        ...{ id: `get${Name}`, summary: `Show a ${kind}`, parameters: [id], answer: 'Object' },
        codes: ['invalid_query', 'not_found'],
      }),
      put: operation({
        ...{ id: `put${Name}`, summary: `Create or replace a ${kind}`, answer: 'ChangeResult', more: created },
        description:
          'With `If-Match`, the request replaces the object. Without it, the request can only create an object. In a replacement, `***` in place of a secret keeps the stored secret. In a list, `***` keeps the stored secret at the same position. `*** (5d41402a)` keeps the stored secret whose SHA-256 begins with these hex digits.',
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
        description: 'If the destination is already in the requested state, the request changes nothing.',
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
        'During the time in `overlap`, the old secret signs `X-Signature`, and both secrets sign the Standard Webhooks headers. After this time, only the new secret signs.',
      ...{ parameters: [id, ifMatch], body: ['RotateSecret', false] },
      codes: ['invalid_json', 'invalid_body', 'invalid_precondition', ...ofChanges, 'rotation_in_progress'],
    }),
  },
  [templateOf(testPath)]: {
    post: operation({
      ...{
        id: 'testDestination',
        summary: 'Send a test message to each webhook of a destination',
        answer: 'TestResult',
      },
      description:
        'Hookline sends the message immediately and without retries, even if the destination is paused or disabled.',
      ...{ parameters: [id], codes: ['invalid_query', 'not_found', 'not_in_use', 'unavailable'] },
    }),
  },
  [templateOf(previewPath)]: {
    post: operation({
      ...{
        id: 'previewMessage',
        summary: 'Show the requests that a destination would get for a message',
        answer: 'MessagePreview',
      },
      description:
        'Hookline shows the requests without sending them. If the destination is paused, the response also has `paused: true`.',
      ...{ parameters: [id], body: ['PreviewedMessage', true] },
      codes: ['invalid_json', 'invalid_body', 'invalid_query', 'not_found', 'not_in_use'],
    }),
  },
  [templateOf(destinationStatusPath)]: {
    get: operation({
      ...{
        id: 'destinationStatus',
        summary: 'Show the circuit breaker, the results, the waiting deliveries and the last failures of a destination',
        answer: 'DestinationStatus',
      },
      ...{ parameters: [id], codes: ['invalid_query', 'not_found'] },
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
          'Only changes since this time: ISO 8601, or a duration before now such as 24h. Absent: all changes that Hookline still has. The response has at most the newest 1,000 changes.',
        ),
      ],
      codes: ['invalid_query'],
    }),
  },
}
