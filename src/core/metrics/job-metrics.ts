import { counter, gauge } from './metric-spec-builders.ts'

const kind = ['replay', 'resend'] as const

/** Metrics of replay and resend jobs. */
export const jobMetrics = {
  jobs: gauge(
    'hookline_jobs',
    'Number of unfinished replays and resends of the operator API. Every operator service reports the number for the whole installation.',
    {
      unit: 'jobs',
      use: 'dashboard',
      labels: { kind, state: ['waiting', 'running'] },
    },
  ),
  jobsEnded: counter('hookline_jobs_ended_total', 'Replays and resends that ended in this process, by state.', {
    unit: 'jobs',
    use: 'dashboard',
    labels: { kind, state: ['done', 'failed', 'cancelled'] },
  }),
  jobsTakenOver: counter(
    'hookline_jobs_taken_over_total',
    'Replays and resends that this process took over from a process that recorded no progress for 10 s.',
    { unit: 'jobs', use: 'dashboard', labels: { kind } },
  ),
} as const
