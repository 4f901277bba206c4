import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, expect, it } from '@jest/globals'
import type { SinkAnswer } from '../../src/adapters/http/sink-server.ts'
import { LiveDeadLetters } from '../../src/core/delivery/live-dead-letters.ts'
import type { LogRecord } from '../../src/core/ports.ts'
import { durationMs } from '../../src/core/time.ts'
import { closingAfterEach } from '../support/cleanup.ts'
import { until } from '../support/kafka/admin.ts'
import { startInstallation, type TestInstallation, trackEvents } from '../support/process/test-installation.ts'
import { RecordingReceiver } from '../support/webhook/recording-receiver.ts'

const closing = closingAfterEach()
const program = new URL('../../bin/hookline.js', import.meta.url).pathname
const tier = durationMs(1_000)

/** `crm` responds as scripted, and `shop` accepts everything. */
async function started(answers: readonly SinkAnswer[]) {
  const crm = closing(await RecordingReceiver.started({ answers }))
  const shop = closing(await RecordingReceiver.started())
  const destinations = Object.entries({ crm, shop }).map(([id, { url }]) => ({
    id,
    sources: ['web'],
    webhooks: [{ url }],
  }))
  const installation = closing(await startInstallation({ delivery: { schedule: ['1s'] }, destinations }))
  return { crm, shop, installation, service: await installation.run() }
}

/** The records of the dead-letter topic that were not replayed yet. */
async function standing({ read, topics }: TestInstallation): Promise<readonly LogRecord[]> {
  const records = await read(topics.deadLetter)
  const last = new LiveDeadLetters()
  for (const record of records) last.add(record)
  return records.filter(record => last.has(record))
}

/**
 * Resolves when there are `count` dead letters, each from a delivery that was replayed `round`
 * times.
 */
const untilGivenUp = (installation: TestInstallation, count: number, round = 0): Promise<true> =>
  until(async () => {
    const rounds = (await standing(installation)).map(({ headers }) => Number(headers['round']))
    return rounds.length === count && rounds.every(each => each === round) ? true : undefined
  })

async function replay(
  installation: TestInstallation,
  ...words: readonly string[]
): Promise<{ total: number; replayed: number }> {
  return JSON.parse(await installation.command('replay', '--json', ...words))
}

describe('replay with the real dispatcher', () => {
  it('delivers dead letters to their destination only, with the same ids, when the retry topic is due', async () => {
    const { crm, shop, installation, service } = await started([404, 403, 200])
    await installation.send(trackEvents(20))
    await shop.untilDelivered(20)
    await untilGivenUp(installation, 20)

    expect(await replay(installation, '--destination', 'crm')).toMatchObject({ total: 20, replayed: 20 })
    // The replayed deliveries fail again and become new dead letters.
    await untilGivenUp(installation, 20, 1)
    expect(await replay(installation, '--destination', 'shop')).toMatchObject({ total: 20, replayed: 0 })
    expect(await replay(installation, '--outcome', 'http_4xx')).toMatchObject({ total: 20, replayed: 20 })
    await crm.untilDelivered(20)
    expect(await replay(installation)).toMatchObject({ total: 0, replayed: 0 })

    const parked = await installation.read(installation.topics.retry(tier))
    expect(parked).toHaveLength(40)
    for (const { timestamp, headers } of parked) {
      const calls = crm.requests.filter(({ messageId }) => messageId === headers['message-id'])
      const call = calls[Number(headers['round'])]
      expect(call?.at).toBeGreaterThanOrEqual(timestamp + tier)
    }
    expect(crm.requests).toHaveLength(60)
    expect([crm.successes.size, crm.duplicates]).toEqual([20, 0])
    expect([shop.requests.length, shop.successes.size]).toEqual([20, 20])
    const metrics = await service.metrics()
    expect(metrics.get('hookline_dead_letters_total{destination="crm",reason="http_4xx"}')).toBe(40)
    expect(await service.stop()).toBe(0)
  })

  it.each([
    ['SIGKILL', null],
    ['SIGTERM', 1],
  ] as const)('%s in the middle and run again: nothing lost, nothing under a second id', async (signal, exitCode) => {
    const { crm, shop, installation, service } = await started([404, 200])
    await installation.send(trackEvents(60))
    await untilGivenUp(installation, 60)

    const child = spawn(process.execPath, [program, 'replay', '--rate', '5', '--config', installation.configFile], {
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const exited = once(child, 'exit')
    let printed = ''
    child.stdout.on('data', (text: Buffer) => (printed += text))
    const replayedAtSignal = await until(async () => {
      const left = new Set((await standing(installation)).map(({ headers }) => headers['message-id']))
      const ids = trackEvents(60).map(({ message }) => message.messageId)
      return left.size <= 55 ? ids.filter(id => !left.has(id)) : undefined
    })
    child.kill(signal)
    expect((await exited)[0]).toBe(exitCode)
    if (exitCode === 1) expect(printed).toMatch(/\d+ replayed\n$/)

    const { total, replayed } = await replay(installation)
    expect(replayed).toBe(total)
    expect(total).toBeGreaterThan(0)
    await crm.untilDelivered(60)
    await until(async () => {
      const delivered = (await service.metrics()).get('hookline_deliveries_total{destination="crm",result="delivered"}')
      return delivered === (await installation.read(installation.topics.retry(tier))).length ? true : undefined
    })
    // After SIGKILL, the second run repeats only replays that were in progress. After SIGTERM (exit
    // code 1), it repeats none.
    expect(replayedAtSignal.filter(id => crm.successes.get(id) !== 1)).toEqual([])
    if (exitCode === 1) expect(crm.duplicates).toBe(0)
    expect([...crm.successes.keys()].toSorted()).toEqual(
      trackEvents(60)
        .map(({ message }) => message.messageId)
        .toSorted(),
    )
    expect(shop.requests).toHaveLength(60)
    expect(await standing(installation)).toEqual([])
    expect(await service.stop()).toBe(0)
  })
})
