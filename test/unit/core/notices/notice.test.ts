import { describe, expect, it } from '@jest/globals'
import { forgedCanonicalFault } from '../../../../src/core/message/forged-canonical-event.ts'
import { messageIdOf } from '../../../../src/core/message/message-ids-and-required-identifiers.ts'
import { type DestinationFacts, decodeFacts } from '../../../../src/core/notices/destination-facts.ts'
import { factsEvent, type Notice, noticeEvent, noticeEvents, noticeKinds } from '../../../../src/core/notices/notice.ts'
import { epochMs } from '../../../../src/core/time.ts'
import { start } from '../../../support/builders.ts'

const at = epochMs(start + 90_000)
const notices: Readonly<Record<Notice['kind'], readonly [Notice, object]>> = {
  failing: [
    { kind: 'failing', destination: 'crm', factsId: 'facts-1', outcomes: ['http_5xx', 'timeout'] },
    { destination: 'crm', outcomes: ['http_5xx', 'timeout'] },
  ],
  recovered: [
    { kind: 'recovered', destination: 'crm', factsId: 'facts-1', outcomes: ['delivered'], failingSince: start },
    { destination: 'crm', outcomes: ['delivered'], failingSince: '2026-11-21T08:00:00.000Z' },
  ],
  gone: [
    { kind: 'gone', destination: 'crm', factsId: 'facts-1', webhooks: ['0'] },
    { destination: 'crm', webhooks: ['0'] },
  ],
  disabled: [{ kind: 'disabled', destination: 'crm', at: start }, { destination: 'crm' }],
  dead_lettered: [
    {
      ...{ kind: 'dead_lettered', destination: 'crm', factsId: 'facts-1', since: start },
      reasons: { http_4xx: 2, record_too_large: 1 },
    },
    {
      ...{ destination: 'crm', count: 3, reasons: { http_4xx: 2, record_too_large: 1 } },
      ...{ since: '2026-11-21T08:00:00.000Z', until: '2026-11-21T08:01:30.000Z' },
    },
  ],
  configuration_changed: [
    {
      kind: 'configuration_changed',
      change: {
        ...{ kind: 'destination', id: 'crm', version: 7, action: 'updated', by: 'ada', at: start },
        fields: ['paused', 'webhooks[0].url'],
      },
    },
    {
      ...{ kind: 'destination', id: 'crm', action: 'updated', version: 7, changedBy: 'ada' },
      ...{ changedAt: '2026-11-21T08:00:00.000Z', fields: ['paused', 'webhooks[0].url'] },
    },
  ],
}

describe('the event of a notice', () => {
  it.each(noticeKinds)('%s: goes only to the notices destination, and has the documented properties', kind => {
    const [notice, properties] = notices[kind]
    const event = noticeEvent(notice, 'ops', at)
    expect(event).toMatchObject({ sourceId: 'hookline.operations', destinationId: 'ops', canonical: true })
    expect(event.message).toMatchObject({ type: 'track', event: noticeEvents[kind], anonymousId: 'destination/crm' })
    expect(event.message.userId).toBeUndefined()
    expect(JSON.parse(event.message.properties ?? '')).toEqual(properties)
    expect(forgedCanonicalFault(event)).toBeUndefined()
  })

  it('has the same message id when another process makes it from the same facts, otherwise another one', () => {
    const idOf = (notice: Notice, time: number): string => noticeEvent(notice, 'ops', epochMs(time)).message.messageId
    const [failing, dead] = [notices.failing[0], notices.dead_lettered[0]]
    const ids = [
      idOf(failing, start),
      idOf({ ...failing, factsId: 'facts-2' } as Notice, start),
      idOf({ ...failing, destination: 'lake' } as Notice, start),
      idOf(dead, start),
      idOf({ ...dead, factsId: 'facts-2' } as Notice, start),
    ]
    expect(new Set(ids).size).toBe(5)
    expect(idOf(failing, start + 90_000)).toBe(ids[0])
  })

  it('has one message id for each disabling by Hookline, and for each minute in which an operator disables', () => {
    const idOf = (more: object): string =>
      noticeEvent({ ...notices.disabled[0], ...more } as Notice, 'ops', at).message.messageId
    const byHookline = (ms: number) => idOf({ automatically: { at: start + ms, reason: 'gone', failingSince: start } })
    const ids = [idOf({}), idOf({ at: start + 60_000 }), byHookline(0), byHookline(5_000)]
    expect(new Set(ids).size).toBe(4)
    expect(idOf({ at: start + 59_999 })).toBe(ids[0])
  })

  it('has one message id for each version of an object', () => {
    const [notice] = notices.configuration_changed
    const { change } = notice as Extract<Notice, { kind: 'configuration_changed' }>
    const idOf = (version: number, time: number): string =>
      noticeEvent({ kind: 'configuration_changed', change: { ...change, version } }, 'ops', epochMs(time)).message
        .messageId
    expect(idOf(7, start)).toBe(idOf(7, start + 600_000))
    expect(idOf(7, start)).not.toBe(idOf(8, start))
  })

  it('has a message id that no sender can use', () => {
    const { messageId } = noticeEvent(notices.failing[0], 'ops', at).message
    expect(messageIdOf(messageId, () => '')).toMatch(/^sha256:/)
  })

  it('names at most 100 changed fields', () => {
    const { change } = notices.configuration_changed[0] as Extract<Notice, { kind: 'configuration_changed' }>
    const fields = Array.from({ length: 300 }, (_, index) => `webhooks[0].headers.X-${index}`)
    const event = noticeEvent({ kind: 'configuration_changed', change: { ...change, fields } }, 'ops', at)
    expect(JSON.parse(event.message.properties ?? '').fields).toEqual(fields.slice(0, 100))
  })
})

describe('destination facts', () => {
  const facts: DestinationFacts = {
    ...{ destination: 'crm', health: 'failing', outcomes: ['http_5xx'] },
    ...{ gone: ['0'], deadLetters: { http_4xx: 3 } },
  }

  it('is the same after its way through an event that goes to no destination', () => {
    const event = factsEvent(facts, 'x', at)
    expect(event.destinationId).toBeUndefined()
    expect(forgedCanonicalFault(event)).toBeUndefined()
    expect(decodeFacts(event.message.properties)).toEqual(facts)
  })

  it.each<[string, unknown, unknown]>([
    ['no text', undefined, undefined],
    ['text that is not JSON', '{', undefined],
    ['a list', '[]', undefined],
    ['null', 'null', undefined],
    ['no destination', '{"health":"failing"}', undefined],
    ['a destination that is too long', JSON.stringify({ destination: 'x'.repeat(64) }), undefined],
    [
      'unknown values, which are left out',
      JSON.stringify({
        ...{
          destination: 'crm',
          health: 'odd',
          outcomes: ['odd', 'timeout'],
          gone: [1, 'a', 'a', 'b', 'c', 'd', 'e', 'f'],
        },
        deadLetters: { odd: 1, http_4xx: -1, http_3xx: 1.5, undecodable: 2, toString: 3 },
      }),
      {
        ...{ destination: 'crm', health: undefined, outcomes: ['timeout'], gone: ['a', 'b', 'c', 'd', 'e'] },
        deadLetters: { undecodable: 2 },
      },
    ],
    [
      'parts of another type',
      '{"destination":"crm","outcomes":1,"gone":null,"deadLetters":"x"}',
      { destination: 'crm', health: undefined, outcomes: [], gone: [], deadLetters: {} },
    ],
  ])('of another program: %s', (_, text, expected) => {
    expect(decodeFacts(text as string | undefined)).toEqual(expected)
  })
})
