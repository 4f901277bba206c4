import { type MessageBatch, readBatch } from '../../../src/core/message/batch.ts'
import type { CallType } from '../../../src/core/message/message.ts'
import { type NormalisedPart, normaliseSome } from '../../../src/core/message/normalise-batch.ts'
import type { Refusal } from '../../../src/core/message/request-refusal.ts'
import { epochMs } from '../../../src/core/time.ts'

export const receivedAt = epochMs(Date.parse('2026-11-21T12:00:00.000Z'))

export type Normalised = Omit<NormalisedPart, 'next'>

/** Normalises all messages of a batch, in parts as the collector does. */
export function normaliseAll(batch: MessageBatch, newId: () => string): Normalised {
  const parts: NormalisedPart[] = []
  for (let next = 0; next < batch.elements.size; ) {
    const part = normaliseSome(batch, next, { receivedAt, newId })
    parts.push(part)
    next = part.next
  }
  return {
    messages: parts.flatMap(({ messages }) => messages),
    rejected: parts.flatMap(({ rejected }) => rejected),
    droppedKeys: parts.reduce((sum, { droppedKeys }) => sum + droppedKeys, 0),
  }
}

/**
 * Parses and normalises JSON text, or a value that is serialised first. Generated ids are `new-1`,
 * `new-2`, ….
 */
export function take(body: unknown, type?: CallType): Normalised | Refusal {
  const batch = readBatch(typeof body === 'string' ? body : JSON.stringify(body), type)
  if (batch.kind === 'refused') return batch
  let ids = 0
  return normaliseAll(batch, () => `new-${++ids}`)
}

/** Like `take`, but throws when the body is rejected. */
export function taken(body: unknown, type?: CallType): Normalised {
  const outcome = take(body, type)
  if ('kind' in outcome) throw new Error(`${outcome.code}: ${outcome.message}`)
  return outcome
}
