import { expect, it } from '@jest/globals'
import type { RunningService } from '../../deploy/tools/local/hookline-process.ts'
import { processClock as clock } from '../../src/adapters/clock/process-clock.ts'
import { createKafka } from '../../src/adapters/kafka/kafkajs/client.ts'
import { readCommits } from '../../src/adapters/kafka/log/end-and-committed-offsets.ts'
import { createLogSessions } from '../../src/adapters/kafka/log/log-sessions.ts'
import { createReader } from '../../src/adapters/kafka/log/topic-reader.ts'
import { ledgerWatchLimits } from '../../src/app/compose/compose-read-ledger.ts'
import type { LedgerRow } from '../../src/core/ledger/ledger-balance-rows.ts'
import { hourOf } from '../../src/core/ledger/ledger-counts.ts'
import type { LedgerView } from '../../src/core/operator/ledger-query-and-view.ts'
import { durationMs } from '../../src/core/time.ts'
import { tiersOf } from '../../src/core/topics.ts'
import { createReadLedger } from '../../src/services/operator/read-ledger.ts'
import { closingAfterEach } from '../support/cleanup.ts'
import { until } from '../support/kafka/admin.ts'
import { startInstallation, type TestInstallation, trackEvents } from '../support/process/test-installation.ts'
import { silent } from '../support/telemetry/silent-logger.ts'
import { RecordingReceiver } from '../support/webhook/recording-receiver.ts'

const closing = closingAfterEach()
const kills = 4
const events = 1_000
const schedule = [durationMs(1_000), durationMs(1_000)]

function ledgerOf({ topics }: TestInstallation): () => Promise<LedgerView> {
  const brokers = (process.env['KAFKA_BROKERS'] ?? '').split(',')
  const kafka = createKafka({ brokers, clientId: 'test', tls: undefined, sasl: undefined }, silent)
  const sessions = closing(createLogSessions({ kafka, clock }))
  const source = {
    commits: (groupId: string) => readCommits(kafka, groupId),
    reader: createReader({ kafka, clock, logger: silent }),
    ...{ sessions: sessions.use, topics, tiers: tiersOf(schedule), earlierTiers: [], clock },
  }
  const read = createReadLedger(source, ledgerWatchLimits)
  return () => read({ since: hourOf(clock.now()) - 1, until: hourOf(clock.now()) + 1 })
}

const countsOf = ({ rows }: LedgerView, id: string, field: keyof LedgerRow): number =>
  rows.filter(({ destination }) => destination === id).reduce((sum, row) => sum + Number(row[field]), 0)

it(`balances to zero after ${kills} SIGKILLs under load with retries, dead letters and drops`, async () => {
  const works = closing(await RecordingReceiver.started({ latency: durationMs(100) }))
  const flaky = closing(await RecordingReceiver.started({ latency: durationMs(10), resetEvery: 3 }))
  const refuses = closing(await RecordingReceiver.started({ answers: [400] }))
  // The counts of these destinations do not fit into the commit metadata, so Hookline also writes
  // ledger records.
  const disabled = Array.from({ length: 60 }, (_, index) => `disabled-${index}`.padEnd(50, 'x'))
  const destination = (id: string, url: string, enabled = true) => ({
    id,
    enabled,
    sources: ['web'],
    webhooks: [{ url }],
  })
  const installation = closing(
    await startInstallation({
      delivery: { schedule: ['1s', '1s'], perWebhook: 4 },
      destinations: [
        destination('works', works.url),
        destination('flaky', flaky.url),
        destination('refuses', refuses.url),
        ...disabled.map(id => destination(id, works.url, false)),
      ],
    }),
  )
  const readLedger = ledgerOf(installation)
  await installation.send(trackEvents(events))
  const running: RunningService[] = [await installation.run(), await installation.run()]
  for (let kill = 1; kill <= kills; kill++) {
    const soFar = works.successes.size
    await works.until(() => works.successes.size >= Math.min(soFar + events / (kills + 2), events))
    await (running.shift() as RunningService).kill()
    running.push(await installation.run())
    // Even directly after a kill, the ledger must not report deliveries as lost.
    expect((await readLedger()).totals.difference).toBe(0)
  }
  const ledger = await until(async () => {
    const view = await readLedger()
    const { admitted, waiting } = view.totals
    return admitted >= events * (disabled.length + 3) && waiting === 0 ? view : undefined
  })

  expect(ledger).toMatchObject({ totals: { difference: 0 } })
  expect(ledger).not.toHaveProperty('partial')
  for (const id of ['works', 'flaky', 'refuses', ...disabled]) expect(countsOf(ledger, id, 'admitted')).toBe(events)
  for (const id of disabled) expect(countsOf(ledger, id, 'dropped')).toBe(events)
  for (const id of ['works', 'flaky', 'refuses']) {
    const ended = countsOf(ledger, id, 'delivered') + countsOf(ledger, id, 'deadLettered')
    expect(ended).toBe(events + countsOf(ledger, id, 'repeated'))
  }
  // A kill repeats only retry records that were written after the last offset commit. Processes
  // commit several times per second, so these are fewer than 500.
  expect(ledger.totals.repeated).toBeLessThan(kills * 500)
  expect(ledger.totals.delivered).toBeLessThanOrEqual(works.requests.length + flaky.requests.length)
  await Promise.all(running.map(service => service.stop()))
  expect((await readLedger()).totals).toEqual(ledger.totals)
}, 300_000)
