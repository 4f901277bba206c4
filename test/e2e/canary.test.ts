import { expect, it } from '@jest/globals'
import { closingAfterEach } from '../support/cleanup.ts'
import { until } from '../support/kafka/admin.ts'
import { startInstallation } from '../support/process/test-installation.ts'
import { RecordingReceiver } from '../support/webhook/recording-receiver.ts'

const closing = closingAfterEach()

it('canary messages go through the whole installation, from one of several processes; lost ones are counted', async () => {
  const heart = closing(await RecordingReceiver.started())
  const away = closing(await RecordingReceiver.started({ answers: [404] }))
  const at = (id: string, { url }: RecordingReceiver) => ({ id, sources: ['web'], webhooks: [{ url }] })
  const destinations = [at('heart', heart), at('away', away)]
  const installation = closing(await startInstallation({ destinations, canary: { destination: 'heart', every: '1s' } }))
  const services = [await installation.run(), await installation.run()]
  const sum = async (name: string): Promise<number> => {
    const all = await Promise.all(services.map(service => service.metrics()))
    return all.reduce((total, metrics) => total + (metrics.get(`hookline_canary_${name}`) ?? 0), 0)
  }
  await heart.untilDelivered(3)
  expect(JSON.parse(heart.requests[0]!.body)).toMatchObject({ type: 'track', event: 'Hookline Heartbeat' })
  // Both processes have the canary, but only one of them sends canary messages.
  const sending = await Promise.all(
    services.map(async service => ((await service.metrics()).get('hookline_canary_sent_total') ?? 0) > 0),
  )
  expect(sending.filter(Boolean)).toHaveLength(1)
  await until(async () => ((await sum('received_total')) >= 3 ? true : undefined))
  expect(await sum('seconds_count')).toBeGreaterThanOrEqual(3)
  expect(await sum('lost_total{reason="dead_lettered"}')).toBe(0)

  await installation.configure({ destinations, canary: { destination: 'away', every: '1s' } })
  await until(async () => ((await sum('lost_total{reason="dead_lettered"}')) >= 2 ? true : undefined))
  await Promise.all(services.map(service => service.stop()))
})
