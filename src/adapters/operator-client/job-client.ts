import { z } from 'zod'
import { type JobKind, jobStates } from '../../core/jobs/job.ts'
import {
  badResponse,
  type OperatorAddress,
  type OperatorRequest,
  type Refused,
  sendToOperator,
} from './operator-request.ts'

const count = z.int().nonnegative()
const job = z.object({
  id: z.string(),
  kind: z.enum(['replay', 'resend']),
  state: z.enum(jobStates),
  createdAt: z.string(),
  dryRun: z.boolean().optional(),
  destination: z.string().optional(),
  cancelRequested: z.boolean().optional(),
  error: z.string().optional(),
  progress: z.object({
    ...{ seen: count.optional(), replayed: count.optional() },
    ...{ replayable: count.optional(), refused: count.optional() },
    ...{ read: count.optional(), sent: count.optional(), skipped: count.optional() },
    ...{ total: count.optional(), tooLarge: count.optional() },
  }),
  counts: z
    .array(
      z.object({
        ...{ destination: z.string(), reason: z.string(), count },
        ...{ topic: z.string().optional(), refusal: z.string().optional() },
      }),
    )
    .optional(),
  missing: z.array(z.object({ partition: count, firstOffset: count })).optional(),
})
/** A replay or a resend as the API shows it. */
export type ShownJob = z.infer<typeof job>

/**
 * The requests to the operator API about replays and resends. All methods throw
 * `OperatorApiFailed`.
 */
export interface JobClient {
  /** Creates a job. Repeated calls with the same `idempotencyKey` create only one. */
  create(kind: JobKind, body: object, idempotencyKey: string): Promise<ShownJob | Refused>
  get(kind: JobKind, id: string): Promise<ShownJob | Refused>
  cancel(kind: JobKind, id: string): Promise<ShownJob | Refused>
}

export function createJobClient(address: OperatorAddress, signal: AbortSignal): JobClient {
  async function ask(request: OperatorRequest): Promise<ShownJob | Refused> {
    const answer = await sendToOperator(address, request, { signal })
    if (answer.kind === 'refused') return answer
    const parsed = job.safeParse(answer.body)
    if (!parsed.success) throw badResponse(address.url, 200)
    return parsed.data
  }
  const pathOf = (kind: JobKind, id: string): string => `/v1/${kind}s/${encodeURIComponent(id)}`

  return {
    create: (kind, body, idempotencyKey) =>
      ask({ method: 'POST', path: `/v1/${kind}s`, body, headers: { 'idempotency-key': idempotencyKey } }),
    get: (kind, id) => ask({ method: 'GET', path: pathOf(kind, id) }),
    cancel: (kind, id) => ask({ method: 'DELETE', path: pathOf(kind, id) }),
  }
}
