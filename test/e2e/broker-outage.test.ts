import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { startBroker } from '../../deploy/tools/local/broker.ts'
import { freePorts } from '../../deploy/tools/local/free-ports.ts'
import { durationMs } from '../../src/core/time.ts'
import { closingAfterEach } from '../support/cleanup.ts'
import { startInstallation, trackEvents } from '../support/process/test-installation.ts'
import { RecordingReceiver } from '../support/webhook/recording-receiver.ts'

const closing = closingAfterEach()

describe('the broker', () => {
  it('stops under load and starts again: the service recovers by itself and every message arrives', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'hookline-outage-'))
    closing({ close: () => rm(dataDir, { recursive: true, force: true }) })
    const place = { dataDir, port: await freePorts(2) }
    let broker = await startBroker(place)
    closing({ close: () => broker.stop() })
    const receiver = closing(await RecordingReceiver.started({ latency: durationMs(20) }))
    // The endpoint responds with 503 during the outage, so the delivery cannot reach a retry topic
    // before the broker is back.
    const flaky = closing(await RecordingReceiver.started({ latency: durationMs(2_000), answers: [503, 200] }))
    const installation = closing(
      await startInstallation(
        {
          delivery: { schedule: ['1s', '2s', '5s'], perWebhook: 20 },
          sources: ['web', 'app'].map(id => ({ id, writeKey: id })),
          destinations: [
            { id: 'crm', sources: ['web'], webhooks: [{ url: receiver.url }] },
            { id: 'flaky', sources: ['app'], webhooks: [{ url: flaky.url }] },
          ],
        },
        broker.address,
      ),
    )
    const count = 2_000
    const few = 5
    await installation.send(trackEvents(few, 'flaky').map(event => ({ ...event, sourceId: 'app' })))
    await installation.send(trackEvents(count))
    const service = await installation.run()
    await Promise.all([
      receiver.until(() => receiver.requests.length >= 300),
      flaky.until(() => flaky.requests.length >= few),
    ])
    await broker.stop()
    broker = await startBroker(place)
    await Promise.all([receiver.untilDelivered(count), flaky.untilDelivered(few)])
    expect(receiver.successes.size).toBe(count)
    expect(await service.stop()).toBe(0)
  })
})
