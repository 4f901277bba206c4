import { expect, it } from '@jest/globals'
import { createClockWatch } from '../../../src/services/clock-watch.ts'
import { ManualClock, turns } from '../../support/manual-clock.ts'
import { RecordingLogger } from '../../support/telemetry/recording-logger.ts'

const hour = 3_600_000
it.each<[string, readonly number[], readonly string[]]>([
  ['no difference', [0, 0], []],
  ['an hour ahead: logged once', [hour, hour, hour + 900], ['warn 3600']],
  ['an hour behind', [-hour], ['warn -3600']],
  ['one second', [1_000], ['warn 1']],
  ['set ahead twice', [hour, 2 * hour], ['warn 3600', 'warn 7200']],
  ['corrected slowly', [60_000, 59_000, 55_000, 0], ['warn 60', 'info undefined']],
  ['set ahead, corrected, set ahead again', [hour, 0, 0, hour], ['warn 3600', 'info undefined', 'warn 3600']],
])("logs a difference of the machine's clock: %s", async (_, allAheadMs, expected) => {
  const clock = new ManualClock()
  const logger = new RecordingLogger()
  let aheadMs = 0
  const watch = createClockWatch({ clock, clockAheadMs: () => aheadMs, logger })
  watch.start()
  for (aheadMs of allAheadMs) await clock.advance(10_000, turns)
  expect(logger.lines.map(({ level, fields }) => `${level} ${fields['seconds']}`)).toEqual(expected)
  watch.stop()
  expect(clock.timers).toBe(0)
})
