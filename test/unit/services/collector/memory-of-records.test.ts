import { describe, expect, it } from '@jest/globals'
import { CollectorHarness } from '../../../support/collector/harness.ts'

const page = { type: 'page', userId: 'u', messageId: 'a' }
const batch = { batch: [page, page, page] }
const unavailable = { kind: 'refused', code: 'unavailable', retryAfter: 5 }
const accepted = { kind: 'accepted', rejected: [] }

describe('the memory of a record', () => {
  it('is free when Kafka has stored the record, even if other records of the request have no result', async () => {
    const collector = new CollectorHarness({ memory: { records: 10_000 } })
    const requests: ReturnType<CollectorHarness['request']>[] = []
    const withoutResult: (typeof collector.producer.waiting)[number][] = []
    for (let count = 0; count < 4; count += 1) {
      requests.push(collector.request(batch))
      await collector.settle()
      withoutResult.push(...collector.producer.waiting.splice(2))
      collector.producer.answer()
    }
    expect(requests.map(({ answer }) => answer)).toEqual(Array(4).fill(undefined))
    for (const { onAck } of withoutResult) onAck(undefined)
    await collector.settle()
    expect(requests.map(({ answer }) => answer)).toEqual(Array(4).fill(accepted))
    expect(collector.held('records')).toBe(0)
  })

  it('is shared with no other record, which would keep it in memory', async () => {
    const collector = new CollectorHarness()
    await collector.answered(batch)
    for (const { key, value } of collector.producer.records(collector.topics.events))
      expect(value?.buffer.byteLength).toBe((key?.length ?? 0) + (value?.length ?? 0))
  })

  it('is full in an outage of Kafka: the collector still admits only one request per second', async () => {
    const collector = new CollectorHarness({ memory: { records: 2_000 } })
    collector.request(batch)
    await collector.advance(11_000)
    expect(collector.service.admit('web-key').kind).toBe('admitted')
    const probe = collector.request(batch)
    await collector.settle()
    expect(probe.answer).toMatchObject({ code: 'unavailable', retryAfter: 1 })
    await collector.advance(999)
    expect(collector.service.admit('web-key')).toMatchObject(unavailable)
    await collector.advance(1)
    expect(collector.service.admit('web-key').kind).toBe('admitted')
  })
})
