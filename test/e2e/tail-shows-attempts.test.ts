import { expect, it } from '@jest/globals'
import { closingAfterEach } from '../support/cleanup.ts'
import { until } from '../support/kafka/admin.ts'
import { startInstallation, trackEvents } from '../support/process/test-installation.ts'
import { RecordingReceiver } from '../support/webhook/recording-receiver.ts'

const closing = closingAfterEach()

it('shows the attempts of all destinations while they happen', async () => {
  const [good, bad] = [
    closing(await RecordingReceiver.started()),
    closing(await RecordingReceiver.started({ answers: [500] })),
  ]
  const installation = closing(
    await startInstallation({
      delivery: { attemptsTopic: true },
      destinations: [
        { id: 'crm', sources: ['web'], webhooks: [{ id: 'main', url: good.url }] },
        { id: 'erp', sources: ['web'], webhooks: [{ url: bad.url }] },
      ],
    }),
  )
  const service = await installation.run()
  const shown = async (...words: string[]): Promise<Record<string, unknown>[]> =>
    (await installation.command('tail', '--json', '--since', '10m', ...words))
      .split('\n')
      .filter(Boolean)
      .map(line => JSON.parse(line))
  // After ten failed attempts, the circuit breaker can open, and further events would wait.
  const events = 9
  // The commands start before the attempts, so they must follow the attempts topic.
  const [delivered, failed] = [
    shown('--destination', 'crm', '--count', `${events}`),
    shown('--outcome', 'http_5xx', '--count', `${events}`),
  ]
  await installation.send(trackEvents(events))
  const common = { source: 'web', type: 'track', attempt: 1 }
  expect(new Set((await delivered).map(({ messageId }) => messageId)).size).toBe(events)
  expect((await delivered)[0]).toMatchObject({ ...common, decision: 'delivered', outcomes: { main: 'delivered' } })
  for (const attempt of await failed)
    expect(attempt).toMatchObject({ ...common, destination: 'erp', decision: 'retried', outcomes: { 0: 'http_5xx' } })
  expect(JSON.stringify(await delivered)).not.toContain('user-')
  const written = 'hookline_attempt_records_total{result="written"}'
  await until(async () => (((await service.metrics()).get(written) ?? 0) >= 2 * events ? true : undefined))
  expect(await service.stop()).toBe(0)
})
