import { deadLetterRecord } from '../../../src/core/delivery/dead-letter-record.ts'
import { type DeliveryState, initialState } from '../../../src/core/delivery/delivery-state.ts'
import type { LogRecord, OutgoingRecord } from '../../../src/core/ports.ts'
import { durationMs, epochMs } from '../../../src/core/time.ts'

const timestamp = epochMs(1_700_000_000_000)

/** The dead letter of the message `m<number>`, as the dispatcher writes it. */
export function writtenDeadLetter(
  number: number,
  {
    destination = 'crm',
    value = Buffer.from(`event ${number}`),
    ...more
  }: Partial<DeliveryState> & { value?: Buffer } = {},
): OutgoingRecord & { readonly key: Buffer } {
  const record: LogRecord = {
    ...{ topic: 'hookline.events', partition: 0, offset: number, timestamp, headers: {} },
    key: Buffer.from('user-of-the-event'),
    value,
  }
  const state: DeliveryState = {
    ...initialState(record, destination, `m${number}`, timestamp, durationMs(1)),
    ...{ attempt: 3, outcomes: 'http_5xx' },
    ...more,
  }
  return deadLetterRecord(record, state, 'retries_exhausted') as OutgoingRecord & { readonly key: Buffer }
}

/** The tombstone that a replay writes for a dead letter. */
export const tombstoneOf = ({ key }: { readonly key: Buffer }): OutgoingRecord => ({ key, value: null, headers: {} })
