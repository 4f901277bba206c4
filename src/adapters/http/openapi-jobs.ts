import { deadLetterOutcomes } from '../../core/delivery/dead-letter-filter.ts'
import { deadLetterReasons } from '../../core/delivery/outcomes-reasons-and-classification.ts'
import { type JobKind, jobKinds, jobStates, maxJobUserIds } from '../../core/jobs/job.ts'
import { defaultResendRate, maxJobRate } from '../../core/jobs/max-and-default-job-rates.ts'
import { callTypes } from '../../core/message/message.ts'
import { jobPaths, jobsPaths } from './api-paths-and-methods.ts'
import { count, flag, list, reference, type Schema, text, time } from './openapi-basic-schemas.ts'
import { operation } from './openapi-operation-and-error-codes.ts'
import { inPath, json, templateOf } from './openapi-responses-and-references.ts'

/* The paths for replays and resends, and their JSON bodies, as OpenAPI 3.1. */

const given = { type: 'string', description: 'ISO 8601, or a duration before now such as 2h.' } as const
/** An object with these properties only, all optional except `required`. */
const closedWith = (properties: Readonly<Record<string, Schema>>, required: readonly string[]): Schema => ({
  ...{ type: 'object', required, properties, additionalProperties: false },
})

const rate = {
  type: 'integer',
  minimum: 1,
  maximum: maxJobRate,
  description: `Maximum number of records that the job writes per second. Default: ${defaultResendRate} for a resend, no limit for a replay.`,
}
const timeRange = (times: Schema, what: string) => ({
  since: { ...times, description: `Start of the time range in which ${what}. ${times['description']}` },
  until: { ...times, description: `End of the time range in which ${what}. ${times['description']}` },
})
const filters = (times: Schema): Schema =>
  closedWith(
    {
      destination: text,
      reason: { enum: deadLetterReasons },
      outcome: { enum: deadLetterOutcomes },
      ...timeRange(times, 'the deliveries were dead-lettered'),
      message: text,
    },
    [],
  )
const span = (times: Schema) => ({
  destination: text,
  ...timeRange(times, 'Hookline received the events'),
  types: {
    ...list({ enum: callTypes }),
    description: 'The job resends only messages of these types. Absent: all types.',
  },
  userIds: {
    ...list(text),
    maxItems: maxJobUserIds,
    description: 'The job resends only messages of these users. Absent: all users.',
  },
})
const dryRun = {
  ...flag,
  description: '`true`: the job only counts the selected dead letters or events, and does not send them again.',
}
const evenDisconnected = {
  ...flag,
  description:
    '`true`: the job also replays a dead letter if its destination is no longer connected to the source of its event, or if this source is unknown because Hookline cannot decode the event.',
}

const job = {
  id: text,
  state: {
    enum: jobStates,
    description:
      '`waiting`: the job waits for an earlier job of the same destination, or for a process to run it. Replays run one after another.',
  },
  createdAt: time,
  createdBy: { ...text, description: 'Name of the operator key that created the job.' },
  ...{ startedAt: time, endedAt: time, rate, dryRun: flag },
  cancelRequested: {
    ...flag,
    description:
      '`true`: an operator sent `DELETE` while the job was running. The job stops soon, and `state` becomes `cancelled`. If the job finished or failed before it could stop, `state` is `done` or `failed`. The field stays `true` after the end of the job.',
  },
  error: {
    ...text,
    description:
      'Why the job failed. If the job has not ended: why its last try failed. The field is removed when the job makes progress again.',
  },
}
const tooLarge = {
  ...count,
  description:
    'Number of selected events that were not sent again, because they are too large for the retry topic. Absent: none.',
}
const always = ['id', 'kind', 'state', 'createdAt', 'createdBy', 'progress']
const countRow = closedWith({ destination: text, reason: text, count, topic: text, refusal: text }, [
  ...['destination', 'reason', 'count'],
])

/** The JSON bodies for replays and resends. */
export const jobSchemas: Readonly<Record<string, Schema>> = {
  NewReplay: closedWith({ filters: filters(given), rate, dryRun, evenDisconnected }, ['filters']),
  NewResend: closedWith({ ...span(given), rate, dryRun }, ['destination', 'since', 'until']),
  Replay: closedWith(
    {
      ...job,
      kind: { const: 'replay' },
      filters: filters(time),
      evenDisconnected,
      progress: closedWith({ seen: count, total: count, replayed: count, replayable: count, refused: count }, [
        'seen',
        'replayed',
        'refused',
      ]),
      counts: {
        ...list(countRow),
        description:
          'Numbers of dead letters by destination and reason. A dry run counts all selected dead letters. Any other replay counts only the dead letters that it could not replay.',
      },
    },
    [...always, 'filters'],
  ),
  Resend: closedWith(
    {
      ...job,
      kind: { const: 'resend' },
      ...span(time),
      userCount: {
        ...count,
        description: 'Number of user ids. A key with the role `read` gets this number instead of `userIds`.',
      },
      progress: closedWith({ read: count, total: count, sent: count, skipped: count, tooLarge }, [
        'read',
        'total',
        'sent',
        'skipped',
      ]),
      missing: {
        ...list(closedWith({ partition: count, firstOffset: count }, ['partition', 'firstOffset'])),
        description:
          'Partitions in which retention removed events before the job read them, so the resend may be incomplete. `firstOffset`: the offset at which the job continued.',
      },
    },
    [...always, 'destination', 'since', 'until'],
  ),
  Replays: closedWith({ replays: { ...list(reference('Replay')), maxItems: 100 } }, ['replays']),
  Resends: closedWith({ resends: { ...list(reference('Resend')), maxItems: 100 } }, ['resends']),
}

const texts = {
  replay: { Name: 'Replay', create: 'Replay dead letters', names: 'replays' },
  resend: { Name: 'Resend', create: 'Send events of a time span to one destination again', names: 'resends' },
} as const

const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  schema: text,
  description:
    'Requests with the same operator key, the same value of this header and the same body create only one job. Hookline refuses a request with the same value and another body.',
}

const ofKind = (kind: JobKind): Readonly<Record<string, object>> => {
  const { Name, create, names } = texts[kind]
  const id = inPath('id')
  return {
    [jobsPaths[kind]]: {
      get: operation({
        id: `list${Name}s`,
        summary: `List the newest 100 ${names}`,
        answer: `${Name}s`,
        codes: ['invalid_query'],
      }),
      post: operation({
        ...{ id: `create${Name}`, summary: create, parameters: [idempotencyKey], body: [`New${Name}`, true] },
        description:
          'A process with the service `operator` runs the job. Replays, including dry runs, run one after another. A resend does not run concurrently with another job of its destination, unless one of the two jobs is a dry run.',
        more: { 202: { description: 'Hookline has created the job.', content: json(reference(Name)) } },
        codes: [
          'invalid_json',
          'invalid_body',
          'invalid_query',
          'invalid_precondition',
          'too_many_jobs',
          'idempotency_key_reused',
          'unavailable',
        ],
      }),
    },
    [templateOf(jobPaths[kind])]: {
      get: operation({
        ...{ id: `get${Name}`, summary: `Show a ${kind} with its progress`, parameters: [id], answer: Name },
        codes: ['invalid_query', 'not_found'],
      }),
      delete: operation({
        ...{ id: `cancel${Name}`, summary: `Cancel a ${kind}`, parameters: [id], answer: Name },
        description:
          'Hookline still delivers the messages that the job has already written to a topic for delivery. If the job has ended, the request changes nothing.',
        codes: ['invalid_query', 'not_found', 'unavailable'],
      }),
    },
  }
}

export const jobOperations: Readonly<Record<string, object>> = Object.assign({}, ...jobKinds.map(ofKind))
