import { hash } from 'node:crypto'
import { z } from 'zod'
import { deadLetterOutcomes } from '../delivery/dead-letter-filter.ts'
import { deadLetterReasons } from '../delivery/outcomes-reasons-and-classification.ts'
import { noDestination } from '../delivery/parse-dead-letter.ts'
import type { Routing } from '../delivery/route.ts'
import { isObject, type JsonObject, withSortedKeys } from '../message/json.ts'
import { callTypes } from '../message/message.ts'
import { storedMessageId } from '../message/message-ids-and-required-identifiers.ts'
import { parseTimestamp } from '../message/timestamp.ts'
import type { ShownProblem } from '../operator/object-refusal.ts'
import { adviceOnName } from '../settings/key-and-name-hints.ts'
import { type EpochMs, epochMs, parseDuration } from '../time.ts'
import { type JobKind, maxJobUserIdBytes, maxJobUserIds, type ReplayJob, type ResendJob } from './job.ts'
import { maxJobRate } from './max-and-default-job-rates.ts'

/** The content of a request to create a job. */
export type JobRequest =
  | ({ readonly kind: 'replay' } & Pick<ReplayJob, 'filters' | 'rate' | 'isDryRun' | 'evenDisconnected'>)
  | ({ readonly kind: 'resend' } & Pick<
      ResendJob,
      'destination' | 'since' | 'until' | 'types' | 'userIds' | 'rate' | 'isDryRun'
    >)

export type ReadJobRequest =
  | { readonly kind: 'request'; readonly request: JobRequest }
  | { readonly kind: 'invalid'; readonly problems: readonly ShownProblem[] }

const text = z.string().min(1).max(1_000)
const rate = z.int().min(1).max(maxJobRate).optional()
const dryRun = z.boolean().optional()

const replayBody = (now: EpochMs) =>
  z.strictObject({
    filters: z.strictObject({
      destination: text.optional(),
      reason: z.enum(deadLetterReasons).optional(),
      outcome: z.enum(deadLetterOutcomes).optional(),
      since: timeBefore(now).optional(),
      until: timeBefore(now).optional(),
      message: text.optional(),
    }),
    rate,
    dryRun,
    evenDisconnected: z.boolean().optional(),
  })

const resendBody = (now: EpochMs) =>
  z.strictObject({
    destination: text,
    since: timeBefore(now),
    until: timeBefore(now),
    types: z.array(z.enum(callTypes)).min(1).max(callTypes.length).optional(),
    userIds: z
      .array(z.string().min(1))
      .min(1)
      .max(maxJobUserIds)
      .refine(ids => ids.reduce((bytes, id) => bytes + Buffer.byteLength(id), 0) <= maxJobUserIdBytes)
      .optional(),
    rate,
    dryRun,
  })

/** The schema of a time in a request: ISO 8601, or a duration before now, for example `2h`. */
const timeBefore = (now: EpochMs) =>
  z.string().transform((value, context): EpochMs => {
    const ago = parseDuration(value)
    const time = ago === undefined ? parseTimestamp(value) : epochMs(now - ago)
    if (time !== undefined && time >= 0) return time
    context.addIssue({ code: 'custom', message: '' })
    return z.NEVER
  })

const isoTime = 'a time in ISO 8601 such as 2026-12-31T18:00:00Z, or a duration before now such as 2h'
/** For each field of a request, the text for error messages that says what its value must be. */
const meanings: Readonly<Record<string, string>> = {
  filters: 'an object with the filters; {} selects all dead letters',
  destination: 'the id of a destination',
  reason: `one of ${deadLetterReasons.join(', ')}`,
  outcome: `one of ${deadLetterOutcomes.join(', ')}`,
  since: isoTime,
  until: isoTime,
  message: 'a message id',
  rate: `a whole number from 1 to ${maxJobRate}: the maximum number of records per second`,
  dryRun: 'true or false',
  evenDisconnected: 'true or false',
  types: `a list of message types, each one of ${callTypes.join(', ')}`,
  userIds: `a list of 1 to ${maxJobUserIds} user ids, together at most ${maxJobUserIdBytes / 1024} KiB`,
}

export function readJobRequest(kind: JobKind, body: JsonObject, routing: Routing, now: EpochMs): ReadJobRequest {
  const parsed = kind === 'replay' ? replayBody(now).safeParse(body) : resendBody(now).safeParse(body)
  if (!parsed.success)
    return { kind: 'invalid', problems: parsed.error.issues.flatMap(issue => problemsOf(issue, body)) }
  const { dryRun: isDryRun, rate: perSecond, ...others } = parsed.data
  const request = {
    ...shapeOf(others),
    ...(perSecond !== undefined && { rate: perSecond }),
    ...(isDryRun === true && { isDryRun }),
  } as JobRequest
  const problems = [...destinationProblems(request, routing), ...timeProblems(request)]
  return problems.length > 0 ? { kind: 'invalid', problems } : { kind: 'request', request }
}

type Parsed = Omit<z.infer<ReturnType<typeof replayBody>> | z.infer<ReturnType<typeof resendBody>>, 'rate' | 'dryRun'>

function shapeOf(given: Parsed): object {
  if (!('filters' in given)) return { kind: 'resend', ...given }
  const { filters, evenDisconnected } = given as z.infer<ReturnType<typeof replayBody>>
  const { message, ...others } = filters
  return {
    kind: 'replay',
    filters: { ...others, ...(message !== undefined && { messageId: storedMessageId(message) }) },
    ...(evenDisconnected === true && { evenDisconnected }),
  }
}

function destinationProblems(request: JobRequest, { destinations }: Routing): readonly ShownProblem[] {
  const isResend = request.kind === 'resend'
  const path = isResend ? 'destination' : 'filters.destination'
  const id = isResend ? request.destination : request.filters.destination
  if (id === undefined || (!isResend && id === noDestination)) return []
  const found = destinations.get(id)
  if (found === undefined)
    return [
      {
        path,
        message: 'names a destination that does not exist, or that Hookline cannot use',
        hint: adviceOnName(id, [...destinations.keys()], 'use an id from GET /v1/destinations'),
      },
    ]
  if (found.enabled || !isResend) return []
  return [{ path, message: 'names a disabled destination', hint: 'enable the destination first' }]
}

function timeProblems(request: JobRequest): readonly ShownProblem[] {
  const isResend = request.kind === 'resend'
  const { since, until } = isResend ? request : request.filters
  if (since === undefined || until === undefined || since < until) return []
  return [
    {
      path: isResend ? 'until' : 'filters.until',
      message: 'must be later than "since"',
      hint: 'use an earlier "since" or a later "until"',
    },
  ]
}

function problemsOf(issue: z.core.$ZodIssue, body: JsonObject): readonly ShownProblem[] {
  const path = issue.path
    .map(part => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
    .join('')
    .slice(1)
  if (issue.code === 'unrecognized_keys')
    return issue.keys.slice(0, 10).map(key => ({
      path: `${path === '' ? '' : `${path}.`}${key.slice(0, 60).toWellFormed()}`,
      message: 'is not a known field',
      hint: 'see the fields in /openapi.json',
    }))
  const field = String(issue.path.findLast(part => typeof part === 'string'))
  const isMissing = issue.path.reduce<unknown>((value, part) => (value as JsonObject | undefined)?.[String(part)], body)
  const meaning = meanings[field]
  const hint = meaning === undefined ? 'see the fields in /openapi.json' : `it must be ${meaning}`
  return [{ path, message: isMissing === undefined ? 'is missing' : 'is not valid', hint }]
}

/**
 * The id of a request's job: the same in every process and for a repeated request. Do not change
 * the input of the hash for a replay, because earlier versions of Hookline must get the same id.
 */
export const jobIdOf = (kind: JobKind, by: string, idempotencyKey: string): string =>
  hash('sha256', JSON.stringify([by, idempotencyKey, ...(kind === 'replay' ? [] : [kind])])).slice(0, 32)

/** Returns a hash of the body of a request. The order of its fields does not matter. */
export const requestHashOf = (body: JsonObject): string =>
  hash(
    'sha256',
    JSON.stringify(body, (_, value: unknown) => (isObject(value) ? withSortedKeys(value) : value)),
  )
