import { setImmediate as endOfTurn } from 'node:timers/promises'
import { describe, expect, it } from '@jest/globals'
import type { Attempt } from '../../../../src/core/delivery/decide.ts'
import { initialState } from '../../../../src/core/delivery/delivery-state.ts'
import { durationMs, epochMs } from '../../../../src/core/time.ts'
import { createAttemptLog } from '../../../../src/services/dispatcher/attempt-log.ts'
import type { Delivery } from '../../../../src/services/dispatcher/delivery.ts'
import { trackMessage } from '../../../support/collector/normalised-track-message.ts'
import { ManualClock } from '../../../support/manual-clock.ts'
import { RecordingLogger } from '../../../support/telemetry/recording-logger.ts'

function started() {
  const [clock, logger] = [new ManualClock(), new RecordingLogger()]
  const log = createAttemptLog({ clock, logger, attemptRecords: undefined })
  const fails = (messageId: string): void => {
    const record = { topic: 't', partition: 0, offset: 1, timestamp: clock.now(), key: null, value: null, headers: {} }
    const carried = initialState(record, 'crm', messageId, clock.now(), durationMs(1))
    const event = { sourceId: 'web', message: trackMessage(messageId) }
    const attempt: Attempt = {
      number: 1,
      at: clock.now(),
      calls: [],
      webhooksWithoutPermit: 0,
      isHeldUpByOthers: false,
    }
    const tier = durationMs(10_000)
    const retried = { ...carried, notBefore: epochMs(clock.now() + tier) }
    log(
      { of: { record }, carried, event } as unknown as Delivery,
      attempt,
      { kind: 'retried', tier, carried: retried },
      12,
    )
  }
  return { clock, logger, fails }
}

describe('log lines of attempts', () => {
  it('are written at the end of a tick, in order, with the facts at the end of each attempt', async () => {
    const { clock, logger, fails } = started()
    fails('m1')
    await clock.advance(3)
    fails('m2')
    expect(logger.lines).toEqual([])
    await endOfTurn()
    const common = { decision: 'retried', nextAttemptInMs: 10_000 }
    expect(logger.lines).toMatchObject([
      { fields: { ...common, messageId: 'm1' } },
      { fields: { ...common, messageId: 'm2' } },
    ])
    fails('m3')
    await endOfTurn()
    expect(logger.lines).toHaveLength(3)
  })

  it('are written earlier when there are many', () => {
    const { logger, fails } = started()
    for (let index = 0; index < 200; index++) fails(`m${index}`)
    expect(logger.lines).toHaveLength(128)
  })
})
