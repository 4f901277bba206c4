import { expect, it } from '@jest/globals'
import { closingAfterEach } from '../support/cleanup.ts'
import { createAdminClient, until } from '../support/kafka/admin.ts'
import { startInstallation, type TestInstallation, trackEvents } from '../support/process/test-installation.ts'
import { type Arrivals, LimitedReceiver } from '../support/webhook/limited-receiver.ts'

const closing = closingAfterEach()
const partitions = 6
const sharedSecret = 'a-shared-secret-of-sixteen'

type Mark = 'one' | 'second starts' | 'two' | 'third starts' | 'three' | 'first stops' | 'end'

/** Resolves when `count` members own all partitions, with equal shares. */
async function balanced({ topics }: TestInstallation, count: number): Promise<void> {
  const admin = closing(await createAdminClient())
  await until(async () => {
    const members = [...((await admin.members(topics.dispatcherGroup, topics.events)) ?? new Map()).values()]
    const isFair = members.length === count && members.every(({ length }) => length === partitions / count)
    return isFair ? true : undefined
  })
}

it('a rate holds for one, two and three processes and through rebalances, and a destination with 429 settles at the limit of its endpoint', async () => {
  const receiver = async (limit?: number) => closing(await LimitedReceiver.started(limit))
  const [limited, busy, other] = [await receiver(), await receiver(20), await receiver()]
  const of = ({ url }: LimitedReceiver) => [{ url }]
  const installation = closing(
    await startInstallation({
      topics: { partitions, replicationFactor: 1 },
      sources: ['web', 'shop'].map(id => ({ id, writeKey: `${id}-key` })),
      destinations: [
        {
          id: 'limited',
          sources: ['web'],
          policy: { ratePerSecond: 50, standardWebhooks: true },
          sharedSecret,
          webhooks: of(limited),
        },
        { id: 'other', sources: ['web'], webhooks: of(other) },
        { id: 'busy', sources: ['shop'], webhooks: of(busy) },
      ],
    }),
  )
  const marks = new Map<Mark, number>()
  const mark = (name: Mark): void => void marks.set(name, performance.now())
  const send = (count: number): Promise<void> => installation.send(trackEvents(count))

  const first = await installation.run()
  await send(2_000)
  // The backlog of the limited destination does not delay the other destination.
  await other.accepts(2_000 - other.accepted.length)
  expect(limited.accepted.length).toBeLessThan(1_000)
  mark('one')
  await limited.accepts(100)
  mark('second starts')
  const second = await installation.run()
  await balanced(installation, 2)
  mark('two')
  await send(1_000)
  await installation.send(trackEvents(900, 'shop').map(event => ({ ...event, sourceId: 'shop' })))
  await limited.accepts(350)
  mark('third starts')
  const third = await installation.run()
  await balanced(installation, 3)
  mark('three')
  await send(1_000)
  await limited.accepts(150)
  mark('first stops')
  const metrics = await Promise.all([first, second, third].map(service => service.metrics()))
  await first.stop()
  await balanced(installation, 2)
  await send(1_000)
  await limited.accepts(150)
  mark('end')

  const between = (receiver: LimitedReceiver, from: Mark, until: Mark): Arrivals =>
    receiver.arrivals(marks.get(from) ?? 0, marks.get(until) ?? 0)
  const whole = between(limited, 'one', 'end')
  // Counted by the second in which requests were sent, because delayed requests arrive together.
  expect(whole.maxSentInOneSecond).toBeLessThanOrEqual(60)
  // The bounds are wide, because the processes may lack CPU time. The property tests have exact
  // limits.
  expect(whole.medianPerSecond).toBeGreaterThanOrEqual(43)
  expect(whole.medianPerSecond).toBeLessThanOrEqual(52)
  // The mean includes pauses while another process starts.
  expect(between(limited, 'one', 'first stops').perSecond).toBeGreaterThan(35)
  expect(between(limited, 'one', 'first stops').perSecond).toBeLessThan(52)
  expect(between(busy, 'two', 'first stops').medianPerSecond).toBeGreaterThanOrEqual(15)
  expect(busy.refused.length).toBeLessThan(500)
  for (const each of metrics) expect(each.get('hookline_breaker_open{destination="busy"}') ?? 0).toBe(0)
  expect(await installation.read(installation.topics.deadLetter)).toEqual([])
})
