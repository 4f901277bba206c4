import { describe, expect, it } from '@jest/globals'
import type { RunningService } from '../../deploy/tools/local/hookline-process.ts'
import { durationMs } from '../../src/core/time.ts'
import { closingAfterEach } from '../support/cleanup.ts'
import { trackMessage } from '../support/collector/normalised-track-message.ts'
import { createAdminClient, until } from '../support/kafka/admin.ts'
import { startInstallation, type TestInstallation, trackEvents } from '../support/process/test-installation.ts'
import { RecordingReceiver } from '../support/webhook/recording-receiver.ts'

const closing = closingAfterEach()
const users = 10
const each = 24
const count = users * each
const partitions = 4
const timeout = 180_000

/** Events that alternate between ten users. The events of one user must stay in order. */
const events = trackEvents(count).map((event, index) => ({
  ...event,
  message: trackMessage(`m-${String(index).padStart(4, '0')}`, { userId: `u-${index % users}` }),
}))

interface Receivers {
  readonly fast: RecordingReceiver
  readonly slow: RecordingReceiver
  readonly slower: RecordingReceiver
}

/** Starts three destinations of one source. Two of them respond so slowly that events wait. */
async function setUp() {
  const [fast, slow, slower] = await Promise.all(
    [5, 150, 400].map(async ms => closing(await RecordingReceiver.started({ latency: durationMs(ms) }))),
  )
  const receivers = { fast, slow, slower } as Receivers
  const installation = closing(
    await startInstallation({
      topics: { partitions, replicationFactor: 1 },
      delivery: { perWebhook: 4 },
      destinations: Object.entries(receivers).map(([id, { url }]) => ({ id, sources: ['web'], webhooks: [{ url }] })),
    }),
  )
  await installation.send(events)
  return { receivers, installation }
}

/** Resolves when `fast` has nearly all messages, and `slower` has at least `atLeast` messages. */
async function untilSpread({ fast, slower }: Receivers, atLeast: number): Promise<void> {
  await fast.untilDelivered(count - users)
  await slower.untilDelivered(atLeast)
}

function expectEachOnceInOrder(receivers: Receivers): void {
  for (const [name, { successes, requests }] of Object.entries<RecordingReceiver>({ ...receivers })) {
    const wrong = [...successes].filter(([, times]) => times !== 1)
    expect({ name, sent: successes.size, wrong }).toEqual({ name, sent: count, wrong: [] })
    const byUser = Map.groupBy(requests, ({ messageId = '' }) => Number(messageId.slice(2)) % users)
    for (const [user, all] of byUser) {
      const ids = all.map(({ messageId }) => messageId)
      expect({ name, user, ids }).toEqual({ name, user, ids: ids.toSorted() })
    }
  }
}

async function untilAll(receivers: Receivers): Promise<void> {
  for (const receiver of Object.values(receivers) as RecordingReceiver[]) await receiver.untilDelivered(count)
}

async function shared(installation: TestInstallation, members: number): Promise<void> {
  const admin = closing(await createAdminClient())
  const { dispatcherGroup, events: topic } = installation.topics
  await until(async () => {
    const all = [...((await admin.members(dispatcherGroup, topic)) ?? new Map()).values()]
    const owned = all.reduce((sum, { length }) => sum + length, 0)
    return all.length === members && owned === partitions && all.every(({ length }) => length > 0) ? true : undefined
  })
}

describe('a source with three destinations of different speed', () => {
  it(
    'SIGTERM three times: each destination gets each message once, and those of one user in order',
    async () => {
      const { receivers, installation } = await setUp()
      let service: RunningService = await installation.run()
      for (let stop = 1; stop <= 3; stop++) {
        await untilSpread(receivers, stop * 20)
        expect(await service.stop()).toBe(0)
        service = await installation.run()
      }
      await untilAll(receivers)
      expect(await service.stop()).toBe(0)
      expectEachOnceInOrder(receivers)
    },
    timeout,
  )

  it(
    'a process joins, another one leaves: each destination gets each message once, and those of one user in order',
    async () => {
      const { receivers, installation } = await setUp()
      const first = await installation.run()
      await untilSpread(receivers, 10)
      const second = await installation.run()
      await shared(installation, 2)
      expect(await first.stop()).toBe(0)
      await untilAll(receivers)
      expect(await second.stop()).toBe(0)
      expectEachOnceInOrder(receivers)
    },
    timeout,
  )
})
