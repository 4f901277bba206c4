import { describe, expect, it } from '@jest/globals'
import { createSuppressionCompaction } from '../../../../src/services/deletion/remove-expired-suppressions.ts'
import { ManualClock } from '../../../support/manual-clock.ts'
import { RecordingLogger } from '../../../support/telemetry/recording-logger.ts'

const minute = 60_000

/**
 * A list with `users` expired users. `parts`: the time in seconds (`at`) and the removed users of
 * each compaction.
 */
function setUp(users: number) {
  const clock = new ManualClock()
  const logger = new RecordingLogger()
  const parts: { at: number; users: number }[] = []
  const state = { users, isCurrent: true, compactsTopic: true, failure: undefined as Error | undefined }
  const compact = async (maxUsers: number): Promise<number> => {
    if (state.failure !== undefined) throw state.failure
    const taken = Math.min(maxUsers, state.users)
    state.users -= taken
    parts.push({ at: clock.monotonic() / 1_000, users: taken })
    return taken
  }
  const suppressions = { compact, isCurrent: () => state.isCurrent }
  const compaction = createSuppressionCompaction({
    suppressions,
    compactsTopic: () => state.compactsTopic,
    clock,
    logger,
  })
  compaction.start()
  const pass = (ms: number) => clock.advance(ms, () => new Promise(resolve => setImmediate(resolve)))
  return { clock, logger, parts, state, compaction, pass }
}

describe('expired deletions', () => {
  it('are removed in parts, a second apart, then checked every ten minutes', async () => {
    const { parts, pass } = setUp(1_200)
    await pass(20 * minute + 5_000)
    expect(parts).toEqual([
      { at: 600, users: 500 },
      { at: 601, users: 500 },
      { at: 602, users: 200 },
      { at: 1_202, users: 0 },
    ])
  })

  it('stay while another process compacts the topic', async () => {
    const { parts, pass, state } = setUp(1)
    state.compactsTopic = false
    await pass(15 * minute)
    expect(parts).toEqual([])
    state.compactsTopic = true
    await pass(5 * minute)
    expect(parts).toEqual([{ at: 1_200, users: 1 }])
  })

  it('stay while the suppression list is not current', async () => {
    const { parts, pass, state } = setUp(1)
    state.isCurrent = false
    await pass(11 * minute)
    expect(parts).toEqual([])
    state.isCurrent = true
    await pass(1_000)
    expect(parts).toHaveLength(1)
  })

  it('stay when the topic is not writable, which is logged', async () => {
    const { parts, pass, state, logger } = setUp(1)
    state.failure = new Error('not writable')
    await pass(10 * minute)
    expect(logger.lines).toMatchObject([{ level: 'warn', fields: { error: 'not writable' } }])
    state.failure = undefined
    await pass(10 * minute)
    expect(parts).toEqual([{ at: 1_200, users: 1 }])
  })
})
