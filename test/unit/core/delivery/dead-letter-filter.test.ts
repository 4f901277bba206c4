import { describe, expect, it } from '@jest/globals'
import { type DeadLetterFilter, deadLetterOutcomes, matches } from '../../../../src/core/delivery/dead-letter-filter.ts'
import { deadLetterRecord } from '../../../../src/core/delivery/dead-letter-record.ts'
import { type DeadLetter, noDestination, parseDeadLetter } from '../../../../src/core/delivery/parse-dead-letter.ts'
import type { LogRecord } from '../../../../src/core/ports.ts'
import { carriedOf, later, recordOf, start } from '../../../support/builders.ts'

const inTopic = (outgoing: ReturnType<typeof deadLetterRecord>, offset = 7): LogRecord =>
  recordOf({ ...outgoing, topic: 'hookline.dead-letter', partition: 0, offset, timestamp: later('1h') })

describe('filters', () => {
  const deadLetter: DeadLetter = parseDeadLetter(
    inTopic(deadLetterRecord(recordOf(), carriedOf({ attempt: 1, outcomes: 'http_5xx,http_4xx' }), 'http_4xx')),
  )
  const undecodable = parseDeadLetter(inTopic(deadLetterRecord(recordOf(), undefined, 'undecodable')))

  it.each<[string, DeadLetterFilter, boolean, boolean]>([
    ['none', {}, true, true],
    ['destination', { destination: 'crm' }, true, false],
    ['another destination', { destination: 'cr' }, false, false],
    ['no destination', { destination: noDestination }, false, true],
    ['reason', { reason: 'http_4xx' }, true, false],
    ['another reason', { reason: 'undecodable' }, false, true],
    ['outcome that is also the reason', { outcome: 'http_4xx' }, true, false],
    ['outcome of another webhook', { outcome: 'http_5xx' }, true, false],
    ['outcome of no webhook', { outcome: 'timeout' }, false, false],
    ['message id alone', { messageId: 'message-1' }, true, false],
    ['message id and destination', { messageId: 'message-1', destination: 'shop' }, false, false],
    ['since before', { since: later('59m') }, true, true],
    ['since that instant', { since: later('1h') }, true, true],
    ['since after', { since: later('3601s') }, false, false],
    ['until that instant', { until: later('1h') }, false, false],
    ['until after', { until: later('3601s') }, true, true],
    ['all met', { destination: 'crm', reason: 'http_4xx', outcome: 'http_5xx', since: start }, true, false],
    ['all but one met', { destination: 'crm', reason: 'http_4xx', outcome: 'http_5xx', until: start }, false, false],
  ])('%s', (_name, filter, ofDelivery, ofEvent) => {
    expect([matches(deadLetter, filter), matches(undecodable, filter)]).toEqual([ofDelivery, ofEvent])
  })

  it('contain every outcome of a dead letter once', () => {
    expect(deadLetterOutcomes).toEqual(expect.arrayContaining(['http_5xx', 'tls_untrusted', 'missing_event']))
    expect(new Set(deadLetterOutcomes).size).toBe(deadLetterOutcomes.length)
  })
})
