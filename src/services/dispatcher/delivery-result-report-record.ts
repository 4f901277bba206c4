import type { AudienceInput } from '../../core/audience/input.ts'
import {
  deletionKey,
  deletionOutcomeKey,
  encodeDeletionOutcome,
} from '../../core/deletion/deletion-record-and-status.ts'
import type { OutgoingRecord } from '../../core/ports.ts'
import type { TopicNames } from '../../core/topics.ts'
import type { OriginReport } from './report-for-audience-or-deletion.ts'

interface Deps {
  readonly topics: Pick<TopicNames, 'audienceInput' | 'deletions'>
  readonly encodeInput: (input: AudienceInput) => Buffer
}

/** Encodes the report of a delivery's result. Returns the record and the topic for it. */
export type OriginReportRecord = (report: OriginReport) => { readonly topic: string; readonly record: OutgoingRecord }

export function createOriginReportRecord({ topics, encodeInput }: Deps): OriginReportRecord {
  const recordOf = (key: string, value: Buffer): OutgoingRecord => ({ key: Buffer.from(key), value, headers: {} })
  return report => {
    if (report.kind === 'deletion') {
      const { outcome } = report
      const value = Buffer.from(encodeDeletionOutcome(outcome))
      // All records of a deletion are in one partition, so that a reader of the deletion's status
      // reads only this partition.
      const partitionKey = Buffer.from(deletionKey(outcome.request))
      return { topic: topics.deletions, record: { ...recordOf(deletionOutcomeKey(outcome), value), partitionKey } }
    }
    const { input } = report
    // The key selects the partition with the user's memberships.
    return { topic: topics.audienceInput, record: recordOf(input.userId, encodeInput(input)) }
  }
}
