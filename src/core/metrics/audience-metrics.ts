import { staleReasons } from '../audience/audience-watermark.ts'
import { counter, gauge, histogram, openLabels } from './metric-spec-builders.ts'

/**
 * Bucket bounds of `hookline_audience_restore_seconds`, in seconds. The CPU time to restore a
 * million memberships is about 3 s.
 */
const restoreBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300]

const { destination, partition } = openLabels

/** Metrics of audience syncs and membership updates. */
export const audienceMetrics = {
  audienceInputs: counter(
    'hookline_audience_inputs_total',
    'Processed records of the audience input topic, by kind and result. With the results `changed` and `unchanged`, Hookline applied the record. With `undecodable`, it dead-lettered the record. With all other results, it ignored the record. docs/explanation/audiences.md explains the kinds and results.',
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
    'Audience membership updates (identify messages) written to the events topic.',
    { unit: 'messages', use: 'dashboard', labels: { destination } },
  ),
  audienceEmissionsWaiting: gauge(
    'hookline_audience_identifies_waiting',
    'Audience membership updates that wait because of the rate limit `audiences.emitPerSecond`.',
    { unit: 'messages', use: 'dashboard' },
  ),
  audienceMembers: gauge(
    'hookline_audience_memberships',
    'Number of audience memberships in the memory of this process: one for each audience, user and destination.',
    { unit: 'memberships', use: 'dashboard' },
  ),
  audienceMemberBytes: gauge(
    'hookline_audience_memberships_bytes',
    'Memory that audience memberships take in this process.',
    { unit: 'bytes', use: 'dashboard' },
  ),
  audiencePartitions: gauge(
    'hookline_audience_partitions',
    'Partitions of the audience input topic assigned to this process. In the state `restoring`, the process reads the audience memberships of the partition from Kafka. Until all are read, the records of the partition wait.',
    { unit: 'partitions', use: 'dashboard', labels: { state: ['restored', 'restoring'] } },
  ),
  audienceRestoreSeconds: histogram(
    'hookline_audience_restore_seconds',
    'Time to read the audience memberships of one partition from Kafka.',
    { unit: 'seconds', use: 'debug', buckets: restoreBuckets },
  ),
  audienceStaleStates: counter(
    'hookline_audience_stale_states_total',
    'Audience memberships that this process wrote again, because a late write had replaced them with older values.',
    { unit: 'memberships', use: 'debug' },
  ),
  audienceInputLag: gauge(
    'hookline_audience_input_lag_records',
    'Records of the audience input topic that are not processed yet, by partition.',
    { unit: 'records', use: 'dashboard', labels: { partition } },
  ),
} as const
