import type { RecordedAttempt } from '../../../src/core/delivery/attempt-details-and-recording-rule.ts'
import { type DeliveryState, initialState } from '../../../src/core/delivery/delivery-state.ts'
import { waitingRetryRecord } from '../../../src/core/operator/message-timeline.ts'
import type {
  FoundDeadLetter,
  FoundEvent,
  FoundRetryRecord,
  TimelineInput,
} from '../../../src/core/operator/message-timeline-input.ts'
import { durationMs, epochMs } from '../../../src/core/time.ts'

export const start = epochMs(Date.UTC(2026, 2, 1))
const origin = { topic: 'hookline.events', partition: 0, offset: 7, timestamp: start }

export const foundAttempt = ({ at = start, ...more }: Partial<Omit<RecordedAttempt, 'at'>> & { at?: number } = {}) =>
  ({
    ...{ destination: 'crm', source: 'web', messageId: 'm-1', type: 'track', attempt: 1, elapsedMs: 12 },
    ...{ decision: 'delivered', outcomes: { 0: 'delivered' }, origin, round: 0, ...more },
    at: epochMs(at),
  }) as RecordedAttempt

export const foundEvent = (more: Partial<Omit<FoundEvent, 'at'>> & { at?: number } = {}): FoundEvent => ({
  ...{ topic: origin.topic, partition: 0, offset: 7, sourceId: 'web', type: 'track', event: 'Order Completed' },
  ...{ receivedAt: start, destinations: ['crm'], drops: new Map(), progress: 'done', isOlderThanAttempts: false },
  ...more,
  at: epochMs(more.at ?? start),
})

/** A copy of the event in the retry topic of 10 s. */
export const foundRetryRecord = (more: Partial<DeliveryState> = {}): FoundRetryRecord =>
  waitingRetryRecord(
    { topic: 'hookline.retry.10s', partition: 0, offset: 3 },
    start,
    { ...initialState(origin, 'crm', 'm-1', start, durationMs(1)), ...more },
    durationMs(10_000),
  )

export const foundDeadLetter = (more: Partial<FoundDeadLetter> = {}): FoundDeadLetter => ({
  ...{ topic: 'hookline.dead-letter', partition: 0, offset: 5, key: 'key-0', at: start },
  ...{ destination: 'crm', reason: 'retries_exhausted', round: 0, ...more },
})

export const noPieces: TimelineInput = {
  ...{ id: 'm-1', attempts: [], retryRecords: [], deadLetters: [], events: [], recorded: 'failures' },
  isComplete: { attempts: true, retryRecords: true, deadLetters: true },
  ...{ searchedSince: start, isPartial: false, isEventRemoved: false },
}
