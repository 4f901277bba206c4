import { type Job, jobKeyOf, jobKinds, type ReplayJob, type ResendJob } from '../../core/jobs/job.ts'
import { claimed, nextClaim } from '../../core/jobs/job-transitions.ts'
import type { Metrics } from '../../core/metrics/metrics.ts'
import type { Cancel, Clock, Logger, LogProducer } from '../../core/ports.ts'
import { durationMs } from '../../core/time.ts'
import { createLoggedWrite, type JobStore } from './job-store.ts'
import { OwnedJob } from './owned-job.ts'
import type { JobOutcome } from './try-until-done.ts'

const checkEvery = durationMs(500)

const takenOver = 'this process took over a job, because the process that ran it recorded no progress for 10 s'
const released = 'this process released the job before the job ended; another process continues it'
const lostToOther = 'this process no longer runs the job; another process continues the job within about 10 s'

interface Deps {
  readonly store: JobStore
  readonly producer: LogProducer
  readonly clock: Clock
  readonly metrics: Pick<Metrics, 'jobs' | 'jobsEnded' | 'jobsTakenOver'>
  readonly logger: Logger
  readonly replay: (job: ReplayJob, owned: OwnedJob) => Promise<JobOutcome>
  readonly resend: (job: ResendJob, owned: OwnedJob) => Promise<JobOutcome>
}

/** Runs jobs. A process *claims* a job by writing a record that names the process as the owner. */
export interface JobRunner {
  start(): void
  stop(): Promise<void>
  refreshGauges(): void
}

export function createJobRunner(deps: Deps): JobRunner {
  const { store, producer, clock, metrics, logger } = deps
  const owner = clock.id()
  const writeClaim = createLoggedWrite(store, logger)
  const running = new Map<string, { readonly owned: OwnedJob; readonly ended: Promise<void> }>()
  let isStopped = false
  let cancel: Cancel = () => undefined
  let claiming: Promise<void> = Promise.resolve()

  store.listen(job => running.get(jobKeyOf(job))?.owned.noteChange())

  async function claim(): Promise<void> {
    const job = nextClaim(store.open(), { sinceLastRecord: store.sinceLastRecord, own: new Set(running.keys()) })
    if (job === undefined) return
    const claimedAt = clock.boottime()
    const result = await writeClaim(job, claimed(owner, clock.now()))
    if (result.kind !== 'applied') return
    const { id, kind } = job
    const isTakenOver = job.state === 'running'
    if (isTakenOver) metrics.jobsTakenOver.inc({ kind })
    logger.info({ kind, id }, isTakenOver ? takenOver : 'job started')
    const owned = new OwnedJob(result.job, claimedAt, { store, producer, clock, logger, owner })
    // The process may have stopped while the claim was being written.
    if (isStopped) owned.stop('stopping')
    running.set(owned.key, { owned, ended: run(result.job, owned).finally(() => running.delete(owned.key)) })
  }

  async function run(job: Job, owned: OwnedJob): Promise<void> {
    const { id, kind } = job
    let outcome: JobOutcome
    try {
      if (!owned.signal.aborted)
        outcome = job.kind === 'replay' ? await deps.replay(job, owned) : await deps.resend(job, owned)
    } catch (error) {
      const { message, stack } = error as Error
      logger.error({ kind, id, error: message, stack }, 'job failed because of a bug in hookline (report this line)')
      outcome = { error: message }
    }
    const last = await owned.end(outcome)
    if (last === undefined) return logger.warn({ kind, id }, lostToOther)
    const { state, error } = last
    if (state !== 'waiting') metrics.jobsEnded.inc({ kind, state: state as 'done' })
    logger.info(
      { kind, id, result: state, ...(error !== undefined && { error }) },
      state === 'waiting' ? released : `job ${state}`,
    )
  }

  function check(): void {
    if (isStopped) return
    cancel = clock.after(checkEvery, () => {
      claiming = claim()
      void claiming.then(check)
    })
  }

  return {
    start() {
      for (const kind of jobKinds) {
        metrics.jobsTakenOver.inc({ kind }, 0)
        for (const state of ['done', 'failed', 'cancelled'] as const) metrics.jobsEnded.inc({ kind, state }, 0)
      }
      check()
    },
    async stop() {
      isStopped = true
      cancel()
      // A claim in progress may still add a job, which must also be released.
      await claiming
      for (const { owned } of running.values()) owned.stop('stopping')
      await Promise.all([...running.values()].map(({ ended }) => ended))
    },
    refreshGauges() {
      const open = store.open()
      for (const kind of jobKinds)
        for (const state of ['waiting', 'running'] as const)
          metrics.jobs.set({ kind, state }, open.filter(job => job.kind === kind && job.state === state).length)
    },
  }
}
