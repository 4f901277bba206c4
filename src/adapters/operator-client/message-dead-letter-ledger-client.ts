import { z } from 'zod'
import {
  badResponse,
  type OperatorAddress,
  OperatorApiFailed,
  type OperatorRequest,
  type Refused,
  sendToOperator,
} from './operator-request.ts'

const place = z.object({ topic: z.string(), partition: z.int(), offset: z.int() })

const deadLetter = z.object({
  key: z.string(),
  at: z.string(),
  destination: z.string(),
  reason: z.string(),
  outcomes: z.array(z.string()),
  messageId: z.string().optional(),
  sourceId: z.string().optional(),
  type: z.string().optional(),
  attempts: z.int().optional(),
  position: place.optional(),
})
/** A dead letter as the API lists it. */
export type ShownDeadLetter = z.infer<typeof deadLetter>

const page = z.object({
  deadLetters: z.array(z.looseObject(deadLetter.shape)),
  next: z.string().optional(),
  partial: z.boolean().optional(),
})

export interface ListedDeadLetters {
  readonly deadLetters: readonly ShownDeadLetter[]
  /**
   * Whether the list may contain replayed dead letters. True when the operator service's index of
   * dead letters is full, so that it may lack the tombstone of a replay.
   */
  readonly isPartial: boolean
}

const timeline = z.object({
  id: z.string(),
  partial: z.boolean().optional(),
  searchedSince: z.string(),
  event: z
    .object({
      sourceId: z.string(),
      type: z.string(),
      event: z.string().optional(),
      receivedAt: z.string(),
      position: place,
    })
    .optional(),
  eventRemoved: z.boolean().optional(),
  records: z.array(place.extend({ at: z.string(), kind: z.string(), destination: z.string().optional() })),
  destinations: z.array(
    z.object({
      id: z.string(),
      state: z.string(),
      reason: z.string().optional(),
      inferred: z.boolean().optional(),
      attempts: z.array(
        z.object({
          at: z.string(),
          number: z.int(),
          outcome: z.string(),
          status: z.int().optional(),
          durationMs: z.number(),
          decision: z.string(),
          reason: z.string().optional(),
          webhook: z.string().optional(),
          dueAt: z.string().optional(),
        }),
      ),
      waiting: z.object({ tier: z.string(), dueAt: z.string() }).optional(),
      deadLetterKey: z.string().optional(),
    }),
  ),
})
export type ShownTimeline = z.infer<typeof timeline>

const ledgerCounts = z.object({
  admitted: z.int(),
  replayed: z.int(),
  repeated: z.int(),
  delivered: z.int(),
  deadLettered: z.int(),
  dropped: z.int(),
  waiting: z.int(),
  difference: z.int().optional(),
})
export type ShownLedgerCounts = z.infer<typeof ledgerCounts>

const ledger = z.object({
  at: z.string(),
  since: z.string(),
  until: z.string(),
  partial: z.boolean().optional(),
  exactSince: z.string().optional(),
  totals: ledgerCounts,
  rows: z.array(ledgerCounts.extend({ hour: z.string(), destination: z.string() })),
})
export type ShownLedger = z.infer<typeof ledger>

type Query = Readonly<Record<string, string | undefined>>

/**
 * The requests to the operator API about messages, dead letters and the ledger. All methods throw
 * `OperatorApiFailed`.
 */
export interface MessageDeadLetterLedgerClient {
  message(id: string, query: Query): Promise<ShownTimeline | Refused>
  /** The newest dead letters, at most `limit`, read page by page. */
  deadLetters(query: Query, limit: number): Promise<ListedDeadLetters | Refused>
  ledger(query: Query): Promise<ShownLedger | Refused>
}

const pageSize = 500
/** Maximum number of repeated requests for a page that the service could not read in time. */
const maxRepeats = 3

export function createMessageDeadLetterLedgerClient(
  address: OperatorAddress,
  { signal }: { readonly signal: AbortSignal },
): MessageDeadLetterLedgerClient {
  async function ask<T>(path: string, query: Query, schema: z.ZodType<T>): Promise<T | Refused> {
    const given = new URLSearchParams()
    for (const [name, value] of Object.entries(query)) if (value !== undefined) given.set(name, value)
    const request: OperatorRequest = { method: 'GET', path: `${path}?${given}` }
    const answer = await sendToOperator(address, request, { signal })
    if (answer.kind === 'refused') return answer
    const parsed = schema.safeParse(answer.body)
    if (!parsed.success) throw badResponse(address.url, 200)
    return parsed.data
  }

  async function pageOf(query: Query, repeats = 0): Promise<z.infer<typeof page> | Refused> {
    try {
      return await ask('/v1/dead-letters', query, page)
    } catch (error) {
      const isUnavailable = error instanceof OperatorApiFailed && error.code === 'unavailable'
      if (!isUnavailable || repeats >= maxRepeats) throw error
      return pageOf(query, repeats + 1)
    }
  }

  return {
    ledger: query => ask('/v1/ledger', query, ledger),
    message: (id, query) => ask(`/v1/messages/${encodeURIComponent(id)}`, query, timeline),
    async deadLetters(query, limit) {
      const all: ShownDeadLetter[] = []
      let after: string | undefined
      let isPartial = false
      do {
        const size = String(Math.min(pageSize, limit - all.length))
        const found = await pageOf({ ...query, after, limit: size })
        // `not_found`: the URL belongs to another service, or to a Hookline without this route.
        if ('kind' in found && found.code === 'not_found') throw badResponse(address.url, 404)
        if ('kind' in found) return found
        all.push(...found.deadLetters)
        isPartial = found.partial === true
        after = found.next
      } while (after !== undefined && all.length < limit)
      return { deadLetters: all, isPartial }
    },
  }
}
