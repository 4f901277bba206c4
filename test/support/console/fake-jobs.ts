import type { Replay, Resend } from '../../../packages/console/src/api/job-types.ts'
import type { DeadLetterDetail } from '../../../packages/console/src/api/response-types.ts'
import { earlierJobs } from './fake-operator-api-data.ts'
import type { Answer, Call } from './fake-routes.ts'

type Job = Replay | Resend

/**
 * Replays and resends of the fake operator API. Each request for a job advances the job by one
 * step.
 */
export function createFakeJobs(deadLetters: DeadLetterDetail[]): (call: Call) => Answer | undefined {
  const jobs = earlierJobs()

  function created({ path: [list], body }: Call): Answer {
    const common = {
      ...{ id: `j-${jobs.length}`, state: 'waiting', createdAt: new Date().toISOString(), createdBy: 'ada' },
    } as const
    const job = (
      list === 'replays'
        ? { ...common, kind: 'replay', filters: body['filters'], ...(body['dryRun'] === true && { dryRun: true }) }
        : { ...common, kind: 'resend', ...body }
    ) as Job
    jobs.push(job)
    return { status: 202, body: job }
  }

  function stepped(job: Job): Job {
    if (job.id === earlierJobs()[1]?.id || job.state === 'done' || job.state === 'cancelled') return job
    if (job.kind === 'resend') {
      const read = (job.progress?.read ?? 0) + 2000
      const progress = { read, total: 4000, sent: read - 10, skipped: 10 }
      return { ...job, progress, state: read === 4000 ? 'done' : 'running' }
    }
    const selected = deadLetters.filter(({ destination, messageId }) => {
      const { destination: wanted = destination, message = messageId } = job.filters
      return wanted === destination && message === messageId
    })
    if (job.dryRun !== true) for (const each of selected) deadLetters.splice(deadLetters.indexOf(each), 1)
    const total = deadLetters.length + selected.length
    const { length } = selected
    const result = job.dryRun === true ? { replayed: 0, replayable: length } : { replayed: length }
    const progress = { seen: total, total, ...result, refused: 0 }
    return { ...job, state: 'done', progress, counts: job.dryRun === true ? [{ count: length }] : [] }
  }

  return call => {
    const [list, id] = call.path
    if (list !== 'replays' && list !== 'resends') return undefined
    if (id === undefined)
      return call.method === 'POST'
        ? created(call)
        : { status: 200, body: { [list]: jobs.filter(({ kind }) => `${kind}s` === list) } }
    const index = jobs.findIndex(each => each.id === id && `${each.kind}s` === list)
    const job = jobs[index]
    if (job === undefined) return undefined
    const next: Job = call.method === 'DELETE' ? { ...job, state: 'cancelled' } : stepped(job)
    jobs[index] = next
    return { status: 200, body: next }
  }
}
