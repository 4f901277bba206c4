import { staleReasons } from '../audience/sync-watermark.ts'
import { counter, gauge, histogram, openLabels } from './metric-spec.ts'

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
    'Processed records of the audience input topic, by kind and result. Kinds: `observed` and `sync_ended` (syncs), `outcome` (delivery results), `resend` (replays of dead-lettered audience changes), `reset`, `forgotten` (deletions), `-` (the record could not be decoded). Results: `changed` and `unchanged` (Hookline applied the record, and the membership changed or not), `undecodable` (Hookline dead-lettered the record). Hookline ignores records with any other result, for example `sync_closed` and `sync_cancelled`. `sync_closed`: the sync of the record, or a newer full sync, had ended. `sync_cancelled`: the full sync of the record was cancelled, because a newer full sync began, or because a record of the sync was ignored, could not be decoded or was lost.',
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
    'Audience memberships in the memory of this process: one for each audience, user and destination.',
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
    'Audience memberships that this process wrote again, because a previous owner of the partition or a delayed write had overwritten them.',
    { unit: 'memberships', use: 'debug' },
  ),
  audienceInputLag: gauge(
    'hookline_audience_input_lag_records',
    'Records of the audience input topic that are not processed yet, by partition.',
    { unit: 'records', use: 'dashboard', labels: { partition } },
  ),
} as const
