import { deadLetterReasons } from '../../core/delivery/classify-outcome.ts'
import { deadLetterOutcomes } from '../../core/delivery/dead-letter-filter.ts'
import { defaultResendRate, type JobKind, jobKinds, jobStates, maxJobRate, maxJobUserIds } from '../../core/jobs/job.ts'
import { callTypes } from '../../core/message/message.ts'
import { inPath, json, templateOf } from './openapi-components.ts'
import { operation } from './openapi-objects.ts'
import { count, flag, list, reference, type Schema, text, time } from './openapi-parts.ts'
import { jobPaths, jobsPaths } from './paths.ts'

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
  description: `Maximum records per second. Absent: ${defaultResendRate} for a resend; a replay is limited only by Kafka.`,
}
const filters = (times: Schema): Schema =>
  closedWith(
    {
      destination: text,
      reason: { enum: deadLetterReasons },
      outcome: { enum: deadLetterOutcomes },
      ...{ since: times, until: times, message: text },
    },
    [],
  )
const span = (times: Schema) => ({
  destination: text,
  ...{ since: times, until: times },
  types: { ...list({ enum: callTypes }), description: 'Only messages of these types.' },
  userIds: { ...list(text), maxItems: maxJobUserIds, description: 'Only messages of these users.' },
})
const dryRun = { ...flag, description: 'Only count, and write nothing.' }
const evenDisconnected = {
  ...flag,
  description: 'Also replay to destinations that are no longer connected to the source.',
}

const job = {
  id: text,
  state: { enum: jobStates, description: '`waiting`: for a job of the same destination, or for a process.' },
  createdAt: time,
  createdBy: { ...text, description: 'The name of the operator key.' },
  ...{ startedAt: time, endedAt: time, rate, dryRun: flag },
  cancelRequested: { ...flag, description: 'The process that runs the job will stop it.' },
  error: { ...text, description: 'Why the job failed.' },
}
const always = ['id', 'kind', 'state', 'createdAt', 'createdBy', 'progress']
const countRow = closedWith({ destination: text, reason: text, count, topic: text, refusal: text }, [
  ...['destination', 'reason', 'count'],
])

/** The JSON bodies of the routes for replays and resends. */
export const jobSchemas: Readonly<Record<string, Schema>> = {
  NewReplay: closedWith({ filters: filters(given), rate, dryRun, evenDisconnected }, ['filters']),
  NewResend: closedWith({ ...span(given), rate, dryRun }, ['destination', 'since', 'until']),
  Replay: closedWith(
    {
      ...job,
      kind: { const: 'replay' },
      filters: filters(time),
      evenDisconnected,
      progress: closedWith({ seen: count, total: count, replayed: count, refused: count }, [
        'seen',
        'replayed',
        'refused',
      ]),
      counts: {
        ...list(countRow),
        description: 'The dead letters that are not replayed; for a dry run, all selected ones.',
      },
    },
    [...always, 'filters'],
  ),
  Resend: closedWith(
    {
      ...job,
      kind: { const: 'resend' },
      ...span(time),
      userCount: { ...count, description: 'The number of user ids, in place of `userIds` for the role `read`.' },
      progress: closedWith({ read: count, total: count, sent: count, skipped: count }, [
        'read',
        'total',
        'sent',
        'skipped',
      ]),
      missing: {
        ...list(closedWith({ partition: count, firstOffset: count }, ['partition', 'firstOffset'])),
        description: 'Partitions of which retention has removed records that may be in the time span.',
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
  description: 'Requests with the same value and operator key create one job.',
}

const ofKind = (kind: JobKind): Readonly<Record<string, object>> => {
  const { Name, create, names } = texts[kind]
  const id = inPath('id')
  return {
    [jobsPaths[kind]]: {
      get: operation({ id: `list${Name}s`, summary: `List the newest 100 ${names}`, answer: `${Name}s` }),
      post: operation({
        ...{ id: `create${Name}`, summary: create, parameters: [idempotencyKey], body: [`New${Name}`, true] },
        description: 'The job runs in an operator process, after earlier jobs of the same destination.',
        more: { 202: { description: 'The job is created.', content: json(reference(Name)) } },
        codes: ['invalid_json', 'invalid_body', 'invalid_precondition', 'too_many_jobs', 'unavailable'],
      }),
    },
    [templateOf(jobPaths[kind])]: {
      get: operation({
        ...{ id: `get${Name}`, summary: `Show a ${kind} with its progress`, parameters: [id], answer: Name },
        codes: ['not_found'],
      }),
      delete: operation({
        ...{ id: `cancel${Name}`, summary: `Cancel a ${kind}`, parameters: [id], answer: Name },
        description: 'Copies that were written are delivered. Nothing changes when the job has ended.',
        codes: ['not_found', 'unavailable'],
      }),
    },
  }
}

export const jobOperations: Readonly<Record<string, object>> = Object.assign({}, ...jobKinds.map(ofKind))
