import { maxWriteKeys } from '../../core/operator/max-write-keys.ts'
import { noMessageRequestReasons } from '../../core/operator/message-preview.ts'
import { destinationStates } from '../../core/operator/object-view.ts'
import { pageLimits } from '../../core/operator/query-parameters-and-object-page.ts'
import { destination, source } from '../../core/settings/schema-of-source-and-destination.ts'
import { closed, count, flag, list, reference, type Schema, text, time } from './openapi-basic-schemas.ts'
import { changeList } from './openapi-change-list-schema.ts'
import { documentSchema } from './openapi-object-document-schema.ts'
import { previewedMessage, previewOr } from './openapi-request-preview-schemas.ts'

const disabledAutomatically = {
  ...closed({
    at: time,
    reason: { enum: ['failing', 'gone'] },
    failingSince: { ...time, description: 'No attempt has succeeded since this time. ISO 8601, UTC.' },
  }),
  description:
    'Present if Hookline, and not an operator, has disabled the destination. The `reason` is `failing` if no attempt has succeeded for the time in `lifecycle.disableAfter`, and `gone` if the webhooks responded with 410 Gone. `enabled` in `document` stays `true`.',
}
export const problems = { ...list(reference('ObjectProblem')), maxItems: 100 }
export const objectView = {
  id: text,
  kind: { enum: ['destination', 'source'] },
  origin: {
    enum: ['file', 'api'],
    description:
      '`file`: the configuration file defines the object, so the API cannot change it. `api`: the API created it.',
  },
  version: { ...count, description: 'Increases by 1 with each change; 0 for an object of the configuration file.' },
  state: {
    enum: destinationStates,
    description:
      '`excluded`: Hookline does not use the object, because of its `problems`. A source is `enabled` or `excluded`.',
  },
  conflict: {
    ...flag,
    description:
      '`true`: the config topic also has an object with this id, which the API created. Hookline uses the object of the configuration file, and ignores the other one.',
  },
  changedBy: {
    ...text,
    description:
      'Name of the operator key that made the last change. For a change by Hookline itself: a name that begins with `hookline.`.',
  },
  changedAt: time,
  disabledAutomatically: reference('DisabledAutomatically'),
  problems,
  document: {
    description:
      'The object in the form of the configuration file. Each secret is masked as `***`, and the URLs of webhooks show only their host.',
    type: 'object',
  },
  fingerprints: {
    type: 'object',
    additionalProperties: text,
    description:
      'The first 8 hex digits of the SHA-256 of each secret and of each masked URL. The keys are paths in `document`. A value of fewer than 16 characters has no fingerprint.',
  },
} as const satisfies Readonly<Record<string, Schema>>
const ofFile = ['changedBy', 'changedAt', 'disabledAutomatically']
const changed = { ...objectView, changedFields: list(text) }
const page = (name: string): Schema =>
  closed({ [name]: { ...list(reference('Object')), maxItems: pageLimits.max }, next: text }, ['next'])

/** The JSON bodies for destinations and sources, and for their changes, tests and previews. */
export const objectSchemas: Readonly<Record<string, Schema>> = {
  DestinationDocument: documentSchema(destination),
  SourceDocument: documentSchema(source),
  DisabledAutomatically: disabledAutomatically,
  ObjectPatch: {
    type: 'object',
    description:
      'A JSON Merge Patch (RFC 7396): `null` removes a key, an object is merged into the stored object, and any other value replaces the stored value.',
  },
  ObjectProblem: closed({
    path: { ...text, description: 'Path of the field. Empty if the problem concerns the whole document.' },
    message: text,
    hint: text,
  }),
  ObjectRefusal: closed({
    code: { ...text, description: 'Identifies the error, for programs. Codes are stable.' },
    message: { ...text, description: 'Text for people: what happened, and what to do.' },
    problems,
  }),
  Object: closed(objectView, ofFile),
  ChangedObject: closed(changed, ofFile),
  CheckedChange: closed({
    dryRun: {
      const: true,
      description: 'Hookline would accept the change. Because of `dryRun=true`, Hookline wrote nothing.',
    },
    created: { type: 'boolean', description: 'Whether the change would create the object.' },
    changedFields: list(text),
  }),
  ChangeResult: {
    description:
      'The changed object. With `dryRun=true`: a `CheckedChange`, or the object itself if the request would change nothing.',
    anyOf: [reference('ChangedObject'), reference('CheckedChange')],
  },
  RotatedSecret: closed(
    {
      ...changed,
      secret: { ...text, description: 'The new secret. Only this response contains it.' },
      rotatesAt: {
        ...time,
        description:
          'End of the time in which both secrets are in use. Absent if the new secret has already replaced the old one.',
      },
    },
    [...ofFile, 'rotatesAt'],
  ),
  RotatedKey: closed(
    {
      ...changed,
      writeKey: { ...text, description: 'The new write key. Only this response contains it.' },
      keys: { ...count, description: 'Number of valid write keys.' },
    },
    ofFile,
  ),
  DestinationPage: page('destinations'),
  SourcePage: page('sources'),
  RotateSecret: closed(
    {
      overlap: {
        ...text,
        default: '24h',
        description:
          'Time for which Hookline uses the old and the new secret, at most 720h. The old secret signs X-Signature. Both sign the Standard Webhooks headers.',
      },
    },
    ['overlap'],
  ),
  RotateKey: closed(
    {
      keep: {
        type: 'integer',
        minimum: 0,
        maximum: maxWriteKeys - 1,
        description: `Number of earlier keys that stay valid. Hookline keeps the newest, and removes the others. Absent: all earlier keys stay valid, but Hookline refuses the request if the source already has ${maxWriteKeys} keys.`,
      },
    },
    ['keep'],
  ),
  TestResult: closed({
    messageId: text,
    body: { ...text, description: 'The body of each request to a webhook.' },
    delivered: {
      ...flag,
      description: 'Whether the endpoint of at least one webhook responded with a status of 200 to 299.',
    },
    responses: list(
      closed(
        {
          webhook: {
            ...text,
            description: 'The id of the webhook. If the webhook has no id: its position in `webhooks` (from 0).',
          },
          request: closed({ url: text, headers: { type: 'object', additionalProperties: text } }),
          outcome: {
            ...text,
            description:
              'Outcome of the request, for example `delivered` or `timeout`. The page docs/reference/errors.md lists all outcomes.',
          },
          status: { type: 'integer' },
          failure: closed({ phase: text, code: text, detail: text }),
          tookMs: { ...count, description: 'Duration of the request in milliseconds, also if it failed.' },
          responseBody: {
            ...closed(
              {
                text: {
                  ...text,
                  description:
                    'The body as UTF-8 text, in which secrets of the destination are masked as `***`. Absent when the body is compressed.',
                },
                contentEncoding: { ...text, description: 'Compression of the body, for example gzip.' },
                truncated: {
                  ...flag,
                  description: '`true`: the body is longer than 4 KiB, or did not arrive completely.',
                },
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
  PreviewedMessage: previewedMessage,
  MessagePreview: previewOr(noMessageRequestReasons),
  Changes: changeList,
}
