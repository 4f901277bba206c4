import { staleReasons } from '../audience/sync-watermark.ts'
import { counter, gauge, histogram, openLabels } from './spec.ts'

/** Upper bounds in seconds. Restoring two million memberships takes about ten seconds. */
const restoreBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300]

const { destination, partition } = openLabels

/** Metrics of audience syncs and membership updates. */
export const audienceMetrics = {
  audienceInputs: counter(
    'hookline_audience_inputs_total',
    'Processed records of the audience input topic, by kind and result. Kinds: `observed` and `sync_ended` (syncs), `outcome` (delivery results), `resend` (replays), `reset`, `forgotten` (deletions), `-` (the record could not be decoded).',
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
    'Identify messages with a membership update that were written to the events topic.',
    { unit: 'messages', use: 'dashboard', labels: { destination } },
  ),
  audienceEmissionsWaiting: gauge(
    'hookline_audience_identifies_waiting',
    'Identify messages that wait because of the rate limit `audiences.emitPerSecond`.',
    { unit: 'messages', use: 'dashboard' },
  ),
  audienceMembers: gauge(
    'hookline_audience_memberships',
    'Memberships in the memory of this process: one for each audience, user and destination.',
    { unit: 'memberships', use: 'dashboard' },
  ),
  audienceMemberBytes: gauge(
    'hookline_audience_memberships_bytes',
    'Memory that the memberships of this process take.',
    { unit: 'bytes', use: 'dashboard' },
  ),
  audiencePartitions: gauge(
    'hookline_audience_partitions',
    'Partitions of the audience input topic assigned to this process. A partition in state `restoring` processes no records yet.',
    { unit: 'partitions', use: 'dashboard', labels: { state: ['restored', 'restoring'] } },
  ),
  audienceRestoreSeconds: histogram(
    'hookline_audience_restore_seconds',
    'Time to restore the memberships of one partition from Kafka.',
    { unit: 'seconds', use: 'debug', buckets: restoreBuckets },
  ),
  audienceStaleStates: counter(
    'hookline_audience_stale_states_total',
    'Memberships written again because a previous owner of the partition, or a delayed write, had overwritten them.',
    { unit: 'memberships', use: 'debug' },
  ),
  audienceInputLag: gauge(
    'hookline_audience_input_lag_records',
    'Records of the partition of the audience input topic that are not processed yet.',
    { unit: 'records', use: 'dashboard', labels: { partition } },
  ),
} as const
