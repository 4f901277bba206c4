import { describe, expect, it } from '@jest/globals'
import { closingAfterEach } from '../support/cleanup.ts'
import { until } from '../support/kafka/admin.ts'
import { startInstallation, type TestInstallation, trackEvents } from '../support/process/test-installation.ts'
import { RecordingReceiver } from '../support/webhook/recording-receiver.ts'

const closing = closingAfterEach()

async function withEndpoint(): Promise<{ receiver: RecordingReceiver; installation: TestInstallation }> {
  const receiver = closing(await RecordingReceiver.started())
  const destinations = [{ id: 'crm', sources: ['web'], webhooks: [{ url: receiver.url }] }]
  return { receiver, installation: closing(await startInstallation({ destinations })) }
}

describe('an invalid record on the events topic', () => {
  it('goes to the dead-letter topic with its reason and its original bytes, and does not block the partition', async () => {
    const { receiver, installation } = await withEndpoint()
    const [event] = trackEvents(1, 'good')
    const good = installation.codec.encode(event!)
    const unknownSchema = Buffer.concat([Buffer.from([0, 0x7f, 0xff, 0xff, 0x0f]), good.subarray(5)])
    const bad: Record<string, { value: Buffer | null; reason: string; outcomes: string }> = {
      'not Avro': { value: Buffer.from('{"type":"track"}'), reason: 'undecodable', outcomes: '' },
      'cut short': { value: good.subarray(0, 20), reason: 'undecodable', outcomes: '' },
      'unknown schema id': { value: unknownSchema, reason: 'undecodable', outcomes: '' },
      null: { value: null, reason: 'undecodable', outcomes: '' },
      'unknown source': {
        value: installation.codec.encode({ ...event!, sourceId: 'nobody' }),
        reason: 'unknown_source',
        outcomes: '',
      },
      'no event name': {
        value: installation.codec.encode({
          ...event!,
          canonical: false,
          message: { ...event!.message, event: undefined },
        }),
        reason: 'invalid_message',
        outcomes: 'missing_event',
      },
    }
    // All records are in one partition, so that the good record follows all bad ones.
    const records = Object.entries(bad).map(([key, { value }]) => ({
      key: Buffer.from(key),
      value,
      headers: { trace: 'kept' },
      partition: 0,
    }))
    await installation.write(installation.topics.events, [
      ...records,
      { key: Buffer.from('good'), value: good, headers: {}, partition: 0 },
    ])
    const service = await installation.run()
    await receiver.untilDelivered(1)

    const deadLetters = await until(async () => {
      const found = await installation.read(installation.topics.deadLetter)
      return found.length === records.length ? found : undefined
    })
    const byOffset = new Map(deadLetters.map(record => [Number(record.headers['origin-offset']), record]))
    Object.values(bad).forEach(({ value, reason, outcomes }, offset) => {
      const record = byOffset.get(offset)
      expect(record?.headers).toMatchObject({
        reason,
        outcomes,
        trace: 'kept',
        'origin-topic': installation.topics.events,
      })
      expect(record?.value).toEqual(value ?? Buffer.alloc(0))
      expect(record?.key?.toString()).toBe(
        `-/${installation.topics.events}/0/${offset}/${record?.headers['origin-timestamp']}/0`,
      )
    })
    const metrics = await service.metrics()
    expect(metrics.get('hookline_dead_letters_total{destination="-",reason="undecodable"}')).toBe(4)
    const listed = (await installation.command('dead-letters', '--reason', 'invalid_message', '--json'))
      .trim()
      .split('\n')
    expect(listed).toHaveLength(1)

    // The replayed values are still invalid. Each new dead letter names the one that was replayed.
    expect(await installation.command('replay', '--reason', 'undecodable')).toMatch(/\b4 replayed\b/)
    const again = await until(async () => {
      const found = await installation.read(installation.topics.deadLetter)
      const repeated = found.filter(({ headers }) => 'replay-of' in headers)
      return repeated.length === 4 ? repeated : undefined
    })
    for (const { headers, value } of again) {
      const [, , offset] = (headers['replay-of'] as string).split('/')
      expect(headers).toMatchObject({ reason: 'undecodable', trace: 'kept' })
      expect(value).toEqual(byOffset.get(Number(offset))?.value)
    }
    expect(receiver.requests).toHaveLength(1)
    expect(await service.stop()).toBe(0)
  })

  it('normalises records of a foreign producer, and keeps one message id over retries and a restart', async () => {
    const receiver = closing(await RecordingReceiver.started({ answers: [500, 500, 200] }))
    const installation = closing(
      await startInstallation({
        delivery: { schedule: ['1s', '1s'] },
        destinations: [{ id: 'crm', sources: ['web'], webhooks: [{ url: receiver.url }] }],
      }),
    )
    const [event] = trackEvents(1)
    const foreign = {
      ...event!,
      canonical: false,
      message: {
        ...event!.message,
        messageId: '',
        properties: '{ "b" : 1e2, "2": -0, "1": "\\ud83d", "__proto__": 1 }' as never,
      },
    }
    await installation.write(installation.topics.events, [
      { key: Buffer.from('k'), value: installation.codec.encode(foreign), headers: {}, partition: 1 },
    ])
    const first = await installation.run()
    await receiver.until(() => receiver.requests.length > 0)
    expect(await first.stop()).toBe(0)
    const service = await installation.run()
    await receiver.untilDelivered(1)
    expect(new Set(receiver.requests.map(request => request.messageId))).toEqual(
      new Set([`${installation.topics.events}/1/0`]),
    )
    expect(new Set(receiver.requests.map(request => request.body)).size).toBe(1)
    expect(JSON.stringify(JSON.parse(receiver.requests[0]!.body))).toBe(receiver.requests[0]!.body)
    expect(receiver.requests[0]!.body).toContain('"properties":{"1":"\ufffd","2":0,"b":100}')
    await service.stop()
  })
})
