import { describe, expect, it } from '@jest/globals'
import { deadLetterRecord } from '../../../../src/core/delivery/dead-letter-record.ts'
import { parseDeadLetter } from '../../../../src/core/delivery/parse-dead-letter.ts'
import { replayTargetOf } from '../../../../src/core/delivery/replay-decision.ts'
import { createRouting, placeholderDestination } from '../../../../src/core/delivery/route.ts'
import type { Event, EventOrigin } from '../../../../src/core/message/event.ts'
import { topicNames } from '../../../../src/core/topics.ts'
import {
  carriedOf,
  defaultPolicy,
  destinationOf,
  eventOf,
  later,
  recordOf,
  sourceOf,
} from '../../../support/builders.ts'

const topics = topicNames('hookline')
const routing = createRouting({ sources: [sourceOf('web'), sourceOf('shop')], destinations: [destinationOf()] })
const deadLetter = recordOf({
  ...deadLetterRecord(recordOf(), carriedOf({ destination: 'crm' }), 'retries_exhausted'),
  topic: topics.deadLetter,
})

function targetOf(event: Event | undefined, evenDisconnected = false) {
  const context = { topics, routing, policy: defaultPolicy, evenDisconnected }
  return replayTargetOf(deadLetter, parseDeadLetter(deadLetter), context, later('48h'), event)
}

describe('a delivery whose source is no longer connected to its destination', () => {
  const deletion: EventOrigin = { kind: 'deletion', id: 'd-1', version: undefined }

  it.each<[string, Event]>([
    ['another source', eventOf({ sourceId: 'shop' })],
    ['a source that was removed', eventOf({ sourceId: 'gone' })],
    ['a deletion for a source', eventOf({ sourceId: 'shop', origin: deletion })],
  ])('is not replayed: %s', (_name, event) => {
    expect(targetOf(event)).toEqual({ kind: 'refused', reason: 'not_connected' })
  })

  it('is not replayed when its bytes cannot be decoded, because its source is not known', () => {
    expect(targetOf(undefined)).toEqual({ kind: 'refused', reason: 'unreadable' })
  })

  const sources = [sourceOf('web')]
  it.each([
    ['may be in a file that cannot be read', { ...createRouting({ sources, destinations: [] }), isIncomplete: true }],
    ['is in a damaged file', createRouting({ sources, destinations: [placeholderDestination('crm')] })],
  ])('is not replayed while the destination %s', (_, unread) => {
    const context = { topics, routing: unread, policy: defaultPolicy }
    const target = replayTargetOf(deadLetter, parseDeadLetter(deadLetter), context, later('48h'), eventOf())
    expect(target).toEqual({ kind: 'refused', reason: 'unknown_destination' })
  })

  it.each<[string, Event]>([
    ['a connected source', eventOf()],
    ["the service's own source", eventOf({ sourceId: 'hookline.canary' })],
  ])('is replayed: %s', (_name, event) => {
    expect(targetOf(event).kind).toBe('delivery')
  })

  it('is replayed on request', () => {
    for (const event of [eventOf({ sourceId: 'shop' }), undefined]) expect(targetOf(event, true).kind).toBe('delivery')
  })
})
