import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { AskOperators } from './operator-client.ts'
import type { JobsScenario } from './scenario.ts'

/** A replay or a resend that has ended, as the operator API shows it. */
export interface EndedJob {
  readonly id: string
  readonly kind: 'replay' | 'resend'
  readonly state: string
  readonly error?: string
}

/** A time span of events, in ms since 1970. `until` is excluded. */
export interface Span {
  readonly since: number
  readonly until: number
}

/** Totals of `GET /v1/ledger`, and whether they are incomplete. */
export interface LedgerTotalsSeen {
  readonly admitted: number
  readonly replayed: number
  readonly repeated: number
  readonly delivered: number
  readonly waiting: number
  readonly difference?: number | undefined
  readonly partial?: true
}

export interface JobsSeen {
  readonly jobs: readonly EndedJob[]
  /** Consecutive time spans of the resends, without gaps. */
  readonly spans: readonly Span[]
  readonly ledgers: readonly LedgerTotalsSeen[]
  readonly problems: readonly string[]
}

export interface JobLoad {
  /** Starts no more jobs. Resolves when the running jobs have ended. */
  stop(): Promise<JobsSeen>
}

/** Times between two requests of a kind, in ms. */
const lookEveryMs = { job: 250, nextJob: 500, ledger: 1_000 }
/** Minimum age of the events that are resent, in ms. By then, Kafka has stored all of them. */
const settledMs = 3_000

/** Time limit of a job, in ms. */
const jobLimitMs = 600_000

/**
 * Creates a job. Resolves with the ended job.
 * @throws when a request fails or the job ends too late
 */
export async function endedJob(ask: AskOperators, path: string, body: object): Promise<EndedJob> {
  // The request may be repeated after a kill. The idempotency key prevents a second job.
  const { id } = await ask({ method: 'POST', path, body, idempotencyKey: randomUUID() })
  const deadline = performance.now() + jobLimitMs
  for (;;) {
    const job = await ask({ path: `${path}/${id}` })
    if (job.state !== 'waiting' && job.state !== 'running') return job
    if (performance.now() > deadline) throw new Error(`${path}/${id} is still ${job.state}`)
    await delay(lookEveryMs.job)
  }
}

export const replay = (ask: AskOperators, { replayed, rate }: JobsScenario['jobs']): Promise<EndedJob> =>
  endedJob(ask, '/v1/replays', { filters: { destination: replayed }, rate })

export async function readLedger(ask: AskOperators): Promise<LedgerTotalsSeen> {
  const { totals, partial } = await ask({ path: '/v1/ledger' })
  return { ...totals, ...(partial && { partial }) }
}

/**
 * Starts jobs, and reads the ledger. The resends have consecutive time spans, so that no event is
 * resent twice.
 */
export function startJobLoad(ask: AskOperators, jobs: JobsScenario['jobs']): JobLoad {
  const ended: EndedJob[] = []
  const spans: Span[] = []
  const ledgers: LedgerTotalsSeen[] = []
  const problems: string[] = []
  let isOver = false
  const repeat = async (everyMs: number, step: () => Promise<unknown>): Promise<void> => {
    while (!isOver) {
      await delay(everyMs)
      await step().catch((error: Error) => problems.push(error.message))
    }
  }
  let since = Date.now()
  const resend = async (): Promise<void> => {
    const until = Date.now() - settledMs
    if (until <= since) return
    const span = { since, until }
    spans.push(span)
    since = until
    const iso = { since: new Date(span.since).toISOString(), until: new Date(until).toISOString() }
    ended.push(await endedJob(ask, '/v1/resends', { destination: jobs.resent, ...iso, rate: jobs.rate }))
  }
  const over = Promise.all([
    repeat(lookEveryMs.nextJob, async () => ended.push(await replay(ask, jobs))),
    repeat(lookEveryMs.nextJob, resend),
    repeat(lookEveryMs.ledger, async () => ledgers.push(await readLedger(ask))),
  ])
  return {
    async stop() {
      isOver = true
      await over
      return { jobs: ended, spans, ledgers, problems }
    },
  }
}
