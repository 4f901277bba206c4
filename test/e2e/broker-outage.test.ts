import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { startBroker } from '../../deploy/local/broker.ts'
import { freePorts } from '../../deploy/local/ports.ts'
import { durationMs } from '../../src/core/units.ts'
import { closingAfterEach } from '../support/cleanup.ts'
import { Ledger } from '../support/ledger.ts'
import { startPipeline, trackEvents } from '../support/pipeline.ts'

const closing = closingAfterEach()

describe('the broker', () => {
  it('stops and starts again in mid-flight: the service resumes by itself and every message arrives', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'hookline-outage-'))
    closing({ close: () => rm(dataDir, { recursive: true, force: true }) })
    const place = { dataDir, port: await freePorts(2) }
    let broker = await startBroker(place)
    closing({ close: () => broker.stop() })
    const ledger = closing(await Ledger.started({ latency: durationMs(20), answers: [503, 200] }))
    const pipeline = closing(
      await startPipeline(
        {
          delivery: { schedule: ['1s', '2s', '5s'], perWebhook: 20 },
          destinations: [{ id: 'crm', sources: ['web'], webhooks: [{ url: ledger.url }] }],
        },
        broker.address,
      ),
    )
    const count = 1_500
    await pipeline.send(trackEvents(count))
    const service = await pipeline.run()
    await ledger.until(() => ledger.requests.length >= 500)
    // Attempts fail and cannot be parked while the broker is away: their source offsets wait.
    await broker.stop()
    broker = await startBroker(place)
    await ledger.untilDelivered(count)
    expect(ledger.successes.size).toBe(count)
    expect(await service.stop()).toBe(0)
  }, 120_000)
})
