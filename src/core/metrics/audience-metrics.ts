import { staleReasons } from '../audience/sync.ts'
import { counter, gauge, histogram, openLabels } from './spec.ts'

/** Two million members take some ten seconds. */
const restoreBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300]

const { destination, partition } = openLabels

/** Syncs of audiences, and what becomes of them. */
export const audienceMetrics = {
  audienceInputs: counter(
    'hookline_audience_inputs_total',
    'Audience inputs that are done, by what they came to; kind `-` where it could not be made out.',
    {
      unit: 'inputs',
      use: 'dashboard',
      labels: {
        kind: ['observed', 'sync_ended', 'outcome', 'resend', 'reset', 'forgotten', '-'],
        result: [
          'changed',
          'unchanged',
          ...staleReasons,
          'unknown_audience',
          'user_deleted',
          'suppressed',
          'undecodable',
        ],
      },
    },
  ),
  audienceEmitted: counter(
    'hookline_audience_identifies_total',
    'Identify messages that tell a destination of a change, as written to the events topic.',
    { unit: 'messages', use: 'dashboard', labels: { destination } },
  ),
  audienceEmissionsWaiting: gauge(
    'hookline_audience_identifies_waiting',
    'Identify messages that wait for their turn, because of `audiences.emitPerSecond`.',
    { unit: 'messages', use: 'dashboard' },
  ),
  audienceMembers: gauge(
    'hookline_audience_memberships',
    'Memberships that this process holds: one for each audience, user and destination.',
    { unit: 'memberships', use: 'dashboard' },
  ),
  audienceMemberBytes: gauge('hookline_audience_memberships_bytes', 'What these take in memory.', {
    unit: 'bytes',
    use: 'dashboard',
  }),
  audiencePartitions: gauge(
    'hookline_audience_partitions',
    'Partitions of audience inputs that this process has; those being restored take nothing yet.',
    { unit: 'partitions', use: 'dashboard', labels: { state: ['restored', 'restoring'] } },
  ),
  audienceRestoreSeconds: histogram(
    'hookline_audience_restore_seconds',
    'From the beginning to the end of reading the memberships of one partition.',
    { unit: 'seconds', use: 'debug', buckets: restoreBuckets },
  ),
  audienceStaleStates: counter(
    'hookline_audience_stale_states_total',
    'Memberships that were written again because an earlier owner of the partition, or a lost request, overwrote them.',
    { unit: 'memberships', use: 'debug' },
  ),
  audienceInputLag: gauge(
    'hookline_audience_input_lag_records',
    'Audience inputs behind the end of the partition, not yet done.',
    { unit: 'records', use: 'dashboard', labels: { partition } },
  ),
} as const
