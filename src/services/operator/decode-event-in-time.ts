import type { Clock, EventCodec, LogRecord } from '../../core/ports.ts'
import type { DurationMs } from '../../core/time.ts'
import { within } from '../../core/within-time-limit.ts'
import { decodeWithSchemaFetch } from '../decode-with-schema-fetch.ts'

interface Deps {
  readonly codec: EventCodec
  readonly clock: Pick<Clock, 'after'>
}

/**
 * Decodes an event. Resolves with `undefined` if the schema registry fails or does not respond
 * within `time`.
 */
export function decodeInTime({ codec, clock }: Deps, value: Buffer, at: LogRecord['timestamp'], time: DurationMs) {
  const decoding = decodeWithSchemaFetch(codec, () => codec.decode(value, at)).catch(() => undefined)
  return within(clock, time, decoding, () => undefined)
}
