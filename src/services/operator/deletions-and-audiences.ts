import { assertNever } from '../../core/assert-never.ts'
import type { AudienceDirectory } from '../../core/audience/configured-audiences.ts'
import type { AudienceInput } from '../../core/audience/input.ts'
import { newSyncId } from '../../core/audience/sync-id.ts'
import { type DeletionRecord, DeletionTally } from '../../core/deletion/deletion-record-and-status.ts'
import {
  deletionOf,
  newDeletionId,
  parseDeletionRequest,
  unknownDestinationProblem,
} from '../../core/deletion/deletion-request.ts'
import type { Routing } from '../../core/delivery/route.ts'
import { kafkaUnavailable, type Refusal, refusal } from '../../core/message/request-refusal.ts'
import {
  type DeletionAndAudienceApi,
  type DeletionAnswer,
  type SyncAnswer,
  type SyncRequest,
  UploadCutShort,
} from '../../core/operator/deletion-and-audience-api.ts'
import type { Clock, EventCodec, Logger, LogPositions, LogProducer, TopicReader, ValueCodec } from '../../core/ports.ts'
import type { EpochMs } from '../../core/time.ts'
import type { TopicNames } from '../../core/topics.ts'
import { type TraceContext, traceHeaders } from '../../core/trace/context.ts'
import type { SuppressionList } from '../deletion/suppression-list.ts'
import { writeDeletion } from './carry-out-deletion.ts'
import { createFindDeletion, requestLimits } from './find-deletion.ts'
import { isKafkaError } from './is-kafka-error.ts'
import { type SyncReport, writeSync } from './write-sync-members-and-end.ts'

export interface OperatorDeps {
  readonly producer: LogProducer
  readonly reader: TopicReader
  readonly positions: Pick<LogPositions, 'ends'>
  readonly suppressions: Pick<SuppressionList, 'update'>
  readonly codec: Pick<EventCodec, 'encode'>
  readonly inputCodec: Pick<ValueCodec<AudienceInput>, 'encode'>
  readonly topics: TopicNames
  readonly routing: () => Routing
  readonly audiences: () => AudienceDirectory
  readonly clock: Clock
  /** Resolves with a broker's time, or with this process's time when no broker answers. */
  readonly brokersNow: () => Promise<EpochMs>
  readonly logger: Logger
}

/** The part of the operator API for deletions and audiences. */
export interface DeletionsAndAudiences extends DeletionAndAudienceApi {
  /** Ends the uploads in progress, because they may take longer than a shutdown permits. */
  stop(): void
}

export function createDeletionsAndAudiences(deps: OperatorDeps): DeletionsAndAudiences {
  const { producer, reader, suppressions, brokersNow, topics, routing, audiences, clock, logger } = deps
  const { encode: encodeInput } = deps.inputCodec
  const find = createFindDeletion({ reader, topic: topics.deletions, clock, limits: requestLimits })
  const stopping = new AbortController()

  async function deleteUsers(input: unknown, trace?: TraceContext): Promise<DeletionAnswer> {
    const parsed = parseDeletionRequest(input, routing())
    if (parsed.kind === 'refused') return refusal(parsed.code, parsed.message)
    const { request } = parsed
    const now = await brokersNow()
    const current = routing()
    const unknown = unknownDestinationProblem(current)
    if (unknown !== undefined) return refusal('unavailable', unknown, { retryAfter: 60 })
    const id = newDeletionId(now, clock.id())
    const record = deletionOf(request, id, now, current)
    const encodings = { encodeEvent: deps.codec.encode, encodeInput }
    const writing = { producer, topics, suppressions, brokersNow, ...encodings, headers: traceHeaders(trace) }
    return orUnavailable(logger, 'deletion', { id }, async () => {
      await writeDeletion(writing, request, record)
      const { status } = new DeletionTally(record).status()
      logAccepted(logger, record)
      return { kind: 'accepted', id, status, users: record.users }
    })
  }

  function refuseAudience(name: string): Refusal | undefined {
    return audiences().has(name)
      ? undefined
      : refusal(
          'unknown_audience',
          'The configuration has no audience with this name: correct the name, or add the audience to audiences.list.',
        )
  }

  async function sync({ audience: name, mode, allowEmpty, lines, trace }: SyncRequest): Promise<SyncAnswer> {
    const audience = audiences().get(name)
    if (audience === undefined) return refuseAudience(name) as Refusal
    const partitions = async (): Promise<number> => (await deps.positions.ends(topics.audienceInput)).length
    const headers = traceHeaders(trace)
    const writing = { producer, topic: topics.audienceInput, partitions, encodeInput, headers }
    try {
      return await orUnavailable(logger, 'audience sync', { audience: name, mode }, async () => {
        const syncId = newSyncId(await brokersNow(), clock.id())
        const { signal } = stopping
        const report = await writeSync(writing, lines, { audience, mode, syncId, allowEmpty, signal })
        const { received, end } = report
        const reason = end.kind === 'refused' ? { why: end.message } : {}
        const facts = { audience: name, mode, syncId, received, end: end.kind, ...reason }
        if (end.kind === 'ended')
          logger.info(facts, 'audience sync accepted: Kafka has stored the whole list; hookline now applies it')
        else logger.warn(facts, incompleteSync)
        return answerTo(report)
      })
    } catch (error) {
      if (!(error instanceof UploadCutShort)) throw error
      logger.warn({ audience: name, mode, why: error.message }, incompleteSync)
      return { kind: 'cut_short' }
    }
  }

  return {
    deleteUsers,
    findDeletion: id =>
      orUnavailable(logger, 'search for a deletion', {}, async () => {
        const known = await find(id)
        if (known.kind === 'found') return { kind: 'found', status: known.status }
        return known.kind === 'none' ? noDeletion : notReached
      }),
    refuseAudience,
    sync,
    stop: () => stopping.abort(),
  }
}

function logAccepted(logger: Logger, { id, users, isSuppressed, sources }: DeletionRecord): void {
  logger.info(
    { id, users, suppress: isSuppressed, sources: sources.map(source => source.id) },
    'deletion accepted: Kafka has stored it, and hookline delivers the delete messages next',
  )
}

/**
 * Returns a refusal when Kafka fails in `work`. Rethrows other errors: an interrupted upload, or a
 * bug.
 */
async function orUnavailable<T>(
  logger: Logger,
  what: string,
  facts: object,
  work: () => Promise<T>,
): Promise<T | Refusal> {
  try {
    return await work()
  } catch (error) {
    if (!isKafkaError(error)) throw error
    logger.error(
      { ...facts, code: error.code, error: error.message },
      `${what} failed because of Kafka (see "error"); the client has to send the request again`,
    )
    return kafkaUnavailable
  }
}

const incompleteSync =
  'audience sync incomplete: hookline applies only the received lines, and does not remove the users who are missing from the list; correct the cause (see "why" and "end"), then send the whole list again'

function answerTo({ syncId, received, end }: SyncReport): SyncAnswer {
  switch (end.kind) {
    case 'ended':
      return { kind: 'synced', syncId, received }
    case 'refused':
      return refusal(
        'invalid_body',
        `L${end.message.slice(1)}. Hookline applies the lines before this line, but does not remove the users who are missing from the list: correct the line and send the whole list again.`,
      )
    case 'empty':
      return refusal(
        'invalid_body',
        'The list is empty, so the sync would remove all members: to remove them, add the query parameter allowEmpty=true.',
      )
    case 'interrupted':
      return refusal('unavailable', 'Hookline is shutting down: send the whole list again.', { retryAfter: 1 })
    default:
      return assertNever(end)
  }
}

const notReached = refusal(
  'unavailable',
  'The search reached its limit before it found this id, so the deletion may exist: check the id, then send the request again after the time in Retry-After. The command "hookline delete-user --status" searches longer.',
  { retryAfter: 5 },
)
const noDeletion = refusal('not_found', 'No deletion of the last 90 days has this id: check the id.')
