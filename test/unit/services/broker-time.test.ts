import { expect, it } from '@jest/globals'
import type { LogProducer, OnAck } from '../../../src/core/ports.ts'
import { epochMs } from '../../../src/core/units.ts'
import { createBrokerTime } from '../../../src/services/broker-time.ts'
import { ManualClock } from '../../support/manual-clock.ts'
import { RecordingLogger } from '../../support/telemetry/recording-logger.ts'

/** A broker that answers each record, with its time or without it, or not at all. */
function setUp(answers: 'time' | 'no time' | 'nothing') {
  const clock = new ManualClock()
  const logger = new RecordingLogger()
  const asked: string[] = []
  /** An hour after ours. */
  const told = epochMs(clock.now() + 3_600_000)
  let learnedAt = Number.NEGATIVE_INFINITY
  const producer = {
    append(topic: string, { key }: { key: Buffer | null }, onAck: OnAck) {
      asked.push(`${topic} ${key} ${clock.monotonic()}`)
      if (answers === 'time') learnedAt = clock.monotonic()
      if (answers === 'time') onAck(undefined, 0, told)
      if (answers === 'no time') onAck(undefined, 0)
    },
  } as LogProducer
  const time = createBrokerTime({ producer, topic: 'dead-letter', clock, learnedAt: () => learnedAt, logger })
  const learns = (): void => {
    learnedAt = clock.monotonic()
  }
  return { clock, logger, asked, time, told, learns }
}

it('is asked for at the start, and then only where nothing was written for half a minute', async () => {
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

it('is not asked for again of a topic that does not tell it', async () => {
  const { clock, asked, time } = setUp('no time')
  await time.ask()
  time.start()
  await clock.advance(120_000)
  expect(asked).toHaveLength(1)
})

it('of now is asked for each time; our own where no broker tells it', async () => {
  const { clock, asked, time, told } = setUp('time')
  expect(await time.now()).toBe(told)
  expect(await time.now()).toBe(told)
  expect(asked).toHaveLength(2)
  expect(await setUp('no time').time.now()).toBe(clock.now())
})

it('keeps nobody from starting', async () => {
  const { clock, logger, time } = setUp('nothing')
  const asking = time.ask()
  await clock.advance(5_000)
  await asking
  expect(logger.lines).toHaveLength(1)
})
