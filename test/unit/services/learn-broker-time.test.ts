import { expect, it } from '@jest/globals'
import type { LogProducer, OnAck } from '../../../src/core/ports.ts'
import { epochMs } from '../../../src/core/time.ts'
import { createBrokerTime } from '../../../src/services/learn-broker-time.ts'
import { ManualClock } from '../../support/manual-clock.ts'
import { RecordingLogger } from '../../support/telemetry/recording-logger.ts'

/**
 * A broker that acknowledges each record, with or without the time of the broker, or that does not
 * respond.
 */
function setUp(answers: 'time' | 'no time' | 'nothing') {
  const clock = new ManualClock()
  const logger = new RecordingLogger()
  const asked: string[] = []
  /** Time of the broker, one hour ahead of the clock of the process. */
  const brokerTime = epochMs(clock.now() + 3_600_000)
  let learnedAt = Number.NEGATIVE_INFINITY
  const producer = {
    append(topic: string, { key }: { key: Buffer | null }, onAck: OnAck) {
      asked.push(`${topic} ${key} ${clock.monotonic()}`)
      if (answers === 'time') learnedAt = clock.monotonic()
      if (answers === 'time') onAck(undefined, 0, brokerTime)
      if (answers === 'no time') onAck(undefined, 0)
    },
  } as LogProducer
  const time = createBrokerTime({ producer, topic: 'dead-letter', clock, learnedAt: () => learnedAt, logger })
  const learns = (): void => {
    learnedAt = clock.monotonic()
  }
  return { clock, logger, asked, time, brokerTime, learns }
}

it('asks a broker for its time at the start, and again after 30 s without a record', async () => {
  const { clock, asked, time, learns } = setUp('time')
  await time.ask()
  time.start()
  await clock.advance(29_000)
  learns()
  await clock.advance(32_000)
  time.stop()
  expect(asked).toEqual(['dead-letter -/clock 0', 'dead-letter -/clock 60000'])
  expect(clock.timers).toBe(0)
})

it("does not ask again when the topic does not keep the broker's time", async () => {
  const { clock, asked, time } = setUp('no time')
  await time.ask()
  time.start()
  await clock.advance(120_000)
  expect(asked).toHaveLength(1)
})

it('asks on each call of now(), and returns its own time when no broker answers', async () => {
  const { clock, asked, time, brokerTime } = setUp('time')
  expect(await time.now()).toBe(brokerTime)
  expect(await time.now()).toBe(brokerTime)
  expect(asked).toHaveLength(2)
  expect(await setUp('no time').time.now()).toBe(clock.now())
})

it('does not block the start when no broker answers', async () => {
  const { clock, logger, time } = setUp('nothing')
  const asking = time.ask()
  await clock.advance(5_000)
  await asking
  expect(logger.lines).toHaveLength(1)
})
