import { readBatch, type TakenBatch, takeBatch } from '../../src/core/message/batch.ts'
import type { CallType } from '../../src/core/message/message.ts'
import type { Refusal } from '../../src/core/tracking-api.ts'
import { epochMs } from '../../src/core/units.ts'

export const receivedAt = epochMs(Date.parse('2026-11-21T12:00:00.000Z'))

/** What becomes of a body, which is JSON text or what is to become it; new ids are `new-1`, `new-2`, …. */
export function take(body: unknown, type?: CallType): TakenBatch | Refusal {
  const batch = readBatch(typeof body === 'string' ? body : JSON.stringify(body), type)
  if (batch.kind === 'refused') return batch
  let ids = 0
  return takeBatch(batch, receivedAt, () => `new-${++ids}`)
}

/** The same, where the body is not refused. */
export function taken(body: unknown, type?: CallType): TakenBatch {
  const outcome = take(body, type)
  if ('kind' in outcome) throw new Error(`${outcome.code}: ${outcome.message}`)
  return outcome
}
