import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from '@jest/globals'
import { hookline } from '../../deploy/tools/local/hookline-process.ts'
import { syncBegan } from '../../src/core/audience/sync-id.ts'
import { durationMs } from '../../src/core/time.ts'
import { closingAfterEach } from '../support/cleanup.ts'
import { startInstallation, trackEvents } from '../support/process/test-installation.ts'
import { RecordingReceiver } from '../support/webhook/recording-receiver.ts'

const closing = closingAfterEach()
const setsClock = new URL('alerts/shift-clock-preload.mjs', import.meta.url).href
const minute = 60_000
const hour = 60 * minute
const skews = [minute, -minute, hour, -hour]
/**
 * Events, each with one failed attempt: too few to open a circuit breaker, even in a single
 * process.
 */
const count = 9

it('processes with clocks that are a minute and an hour off retry each delivery once, on schedule and in its window', async () => {
  const receiver = closing(await RecordingReceiver.started({ answers: [503, 200], latency: durationMs(5) }))
  const installation = closing(
    await startInstallation({
      topics: { partitions: 8, replicationFactor: 1 },
      delivery: { schedule: ['10s', '30s'] },
      destinations: [{ id: 'crm', sources: ['web'], webhooks: [{ url: receiver.url }] }],
    }),
  )
  const services = await Promise.all(
    skews.map(async skew => {
      const file = join(tmpdir(), `hookline-clock-${process.pid}-${skew}`)
      await writeFile(file, String(skew))
      return installation.run({ NODE_OPTIONS: `--import=${setsClock}`, CLOCK_AHEAD_FILE: file })
    }),
  )
  await installation.send(trackEvents(count))
  await receiver.untilDelivered(count)
  for (const service of services) {
    const offset = (await service.metrics()).get('hookline_clock_offset_seconds') ?? 0
    // A slow response of the broker makes the offset inexact, but never by a minute.
    expect(skews.some(skew => Math.abs(skew / 1_000 - offset) < 10)).toBe(true)
    expect(await service.stop()).toBe(0)
  }
  const waiting = (
    await Promise.all(
      ['10s', '30s', '1m', '5m'].map(tier =>
        installation.read(`${installation.topics.retry(durationMs(10_000)).replace('10s', tier)}`),
      ),
    )
  ).flat()
  expect(waiting).toHaveLength(count)
  for (const { timestamp, headers } of waiting) {
    expect(Math.abs(Number(headers['deadline']) - timestamp - 4 * hour)).toBeLessThan(10_000)
    expect(Math.abs(Number(headers['not-before']) - timestamp - 10_000)).toBeLessThan(10_000)
  }
  const tries = Map.groupBy(receiver.requests, ({ messageId }) => messageId)
  for (const [id, requests] of tries) {
    const [first, second, ...more] = requests.map(({ at }) => at)
    const waitedMs = (second ?? 0) - (first ?? 0)
    // Every wrong clock would make the wait at least a minute shorter or longer.
    expect({ id, more, isInTime: waitedMs >= 5_000 && waitedMs < 50_000, waitedMs }).toMatchObject({
      more: [],
      isInTime: true,
    })
  }
})

it.each([-hour, hour])("commands whose clock is %d ms off give a deletion and a sync the brokers' time", async skew => {
  const installation = closing(
    await startInstallation({
      destinations: [{ id: 'crm', sources: ['web'], webhooks: [{ url: 'http://127.0.0.1:9999/' }] }],
      audiences: { list: [{ name: 'Shoppers', destinations: ['crm'] }] },
    }),
  )
  const folder = await mkdtemp(join(tmpdir(), 'hookline-clock-'))
  const file = join(folder, 'ahead')
  await writeFile(file, String(skew))
  await writeFile(join(folder, 'list.txt'), 'ada\n')
  const env = { ...process.env, NODE_OPTIONS: `--import=${setsClock}`, CLOCK_AHEAD_FILE: file }
  const command = async (...words: string[]) =>
    JSON.parse(await hookline(installation.configFile, [...words, '--json'], env))
  const { createdAt } = await command('delete-user', '--user', 'ada')
  expect(Math.abs(Date.parse(createdAt) - Date.now())).toBeLessThan(minute)
  const { syncId } = await command('audience', 'sync', '--name', 'Shoppers', '--members', join(folder, 'list.txt'))
  expect(Math.abs(syncBegan(syncId) - Date.now())).toBeLessThan(minute)
  await rm(folder, { recursive: true })
})
