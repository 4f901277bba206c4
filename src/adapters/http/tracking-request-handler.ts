import type { FastifyReply, FastifyRequest } from 'fastify'
import type { BodyOwner } from '../../core/collector/request-body-memory-budget.ts'
import type { Admission, BodyMemory, TrackingAnswer, TrackingApi } from '../../core/collector/tracking-api.ts'
import type { CallType } from '../../core/message/message.ts'
import { noMemory } from '../../core/message/request-refusal.ts'
import type { Clock } from '../../core/ports.ts'
import type { TraceContext } from '../../core/trace/context.ts'
import { clientAddressOf } from './client-address.ts'
import { createWriteKeySearch } from './find-write-key-in-body.ts'
import { headerKeyOf, queryKeyOf } from './header-and-query-write-key.ts'
import type { Connections } from './open-connections.ts'
import { readBody } from './read-body.ts'
import { AddressCounter } from './requests-in-progress-by-address.ts'
import { accepted, type HttpResponse, refused } from './response-codes-and-bodies.ts'
import type { HttpLimits } from './server-limits.ts'
import { createUnpackPermits, type UnpackPermit } from './unpack-permits.ts'

interface Deps {
  readonly api: TrackingApi
  readonly maxBodyBytes: number
  readonly clientAddressHeader?: string | undefined
  readonly limits: HttpLimits
  readonly connections: Connections
  readonly clock: Clock
  readonly onRefused: (cause: 'address' | 'slow') => void
}

/**
 * A response body with more characters counts towards the memory of request bodies until the
 * client has read it, because a slow client keeps it in memory. A shorter one does not count.
 */
const maxUncountedResponseLength = 1_024

interface TrackingExchange {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly type: CallType | undefined
  readonly trace: TraceContext | undefined
  /**
   * Call this when the source of the request is known. Without a call, the trace span is discarded,
   * so that requests without a valid write key cause no costs in the tracing backend.
   */
  readonly keepSpan: () => void
}

interface Sender {
  readonly headerKey: string | undefined
  readonly queryKey: string | undefined
  readonly memory: BodyMemory
  /**
   * The source and the client address whose limits the memory of the body counts towards. The
   * source is `undefined` if the headers and the query have no valid write key.
   */
  readonly owner: BodyOwner
  readonly permit: UnpackPermit
}

/**
 * Creates the handler of tracking requests. The memory of a body counts towards the limit of its
 * source or, while the source is unknown, only of the client address.
 */
export function createTrackingHandler(deps: Deps): (exchange: TrackingExchange) => Promise<HttpResponse | undefined> {
  const { api, maxBodyBytes, clientAddressHeader, limits, connections, clock, onRefused } = deps
  const inProgress = new AddressCounter(limits.connectionsPerAddress)
  const permitFor = createUnpackPermits()

  async function handle(exchange: TrackingExchange): Promise<HttpResponse | undefined> {
    const { raw, query } = exchange.request
    const headerKey = headerKeyOf(raw)
    const queryKey = queryKeyOf(query)
    const sender = admitEarly(headerKey, queryKey)
    if (sender !== undefined && hasKnownKey(sender)) exchange.keepSpan()
    if (sender?.kind === 'refused') return refused(sender)
    const address = clientAddressOf(raw, clientAddressHeader)
    if (!inProgress.enter(address)) {
      onRefused('address')
      return refused(noMemory)
    }
    const connection = connections.of(raw)
    let isAnswered = false
    const owner = { sourceId: sender?.sourceId, address }
    const permit = permitFor(owner)
    const memory = api.openBody(owner, () => {
      if (isAnswered) raw.socket.destroy()
      else if (!permit.refuse(refused(noMemory))) connection.onBodyAborted?.(refused(noMemory))
    })
    try {
      const answer = await readAndAccept(exchange, { headerKey, queryKey, memory, owner, permit })
      isAnswered = answer !== undefined && answer.body.length > maxUncountedResponseLength && connections.isOpen(raw)
      if (isAnswered) {
        memory.answered(Buffer.byteLength((answer as HttpResponse).body))
        connections.afterResponse(raw, exchange.reply.raw, () => memory.release())
      }
      return answer
    } finally {
      if (!isAnswered) memory.release()
      inProgress.leave(address)
    }
  }

  /**
   * Admits the source before the body is read. Returns `undefined` when only the body can have a
   * valid key.
   */
  function admitEarly(headerKey: string | undefined, queryKey: string | undefined): Admission | undefined {
    if (headerKey !== undefined) return api.admit(headerKey)
    return queryKey !== undefined && api.isWriteKey(queryKey) ? api.admit(queryKey) : undefined
  }

  async function readAndAccept(exchange: TrackingExchange, sender: Sender): Promise<HttpResponse | undefined> {
    const { request, reply, type, trace, keepSpan } = exchange
    const { raw } = request
    const { headerKey, queryKey, memory, owner, permit } = sender
    const receivedAt = clock.now()
    const connection = connections.of(raw)
    let { sourceId } = owner
    const onKey = (key: string): HttpResponse | undefined => {
      const found = api.admit(key)
      if (hasKnownKey(found)) keepSpan()
      if (found.kind === 'refused') return refused(found)
      sourceId = found.sourceId
      return memory.assign(sourceId) ? undefined : refused(noMemory)
    }
    const probe = sourceId === undefined ? createWriteKeySearch({ maxBytes: maxBodyBytes, onKey }) : undefined
    const bodyDeps = { maxBytes: maxBodyBytes, memory, probe, permit, progress: limits.progress, clock, connection }
    const body = await readBody(raw, reply.raw, bodyDeps)
    if (body.kind === 'gone') return undefined
    if (body.kind === 'refused') {
      if (body.answer.code === 'request_timeout') onRefused('slow')
      return body.answer
    }
    const strict = raw.headers['x-strict-mode'] === '1'
    const use = { sourceId, ...memoryFunctionsOf(memory, keepSpan) }
    const answer = await api.accept({ headerKey, queryKey, type, body: body.text, ...use, strict, receivedAt, trace })
    if (hasKnownKey(answer)) keepSpan()
    return answer.kind === 'accepted' ? accepted(answer.rejected) : refused(answer)
  }

  return handle
}

/**
 * The functions with which `accept` of the tracking API manages the memory of the body. `accept`
 * calls `assign` when it knows the source. From then on, the memory counts towards the limit of
 * this source. `assign` also calls `keepSpan`, because the source is known.
 */
const memoryFunctionsOf = (memory: BodyMemory, keepSpan: () => void) => ({
  assign(sourceId: string): boolean {
    keepSpan()
    return memory.assign(sourceId)
  },
  reserve: (bytes: number): boolean => memory.take(bytes),
  canEverReserve: (bytes: number): boolean => memory.canEverHold(bytes),
})

/** Whether the write key of a request belongs to a source, even if the request was refused. */
const hasKnownKey = (result: Admission | TrackingAnswer): boolean =>
  result.kind !== 'refused' || result.code !== 'invalid_write_key'
