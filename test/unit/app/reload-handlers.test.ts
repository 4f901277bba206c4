import { expect, it } from '@jest/globals'
import type { LogLevel } from '../../../src/adapters/logger-and-audit-log.ts'
import { reloadHandlers } from '../../../src/app/reload-handlers.ts'
import { loggable } from '../../../src/core/logging/redact-log-fields.ts'
import { countingMetrics } from '../../support/telemetry/counting-metrics.ts'
import { RecordingLogger } from '../../support/telemetry/recording-logger.ts'

it('logs the stack if a bug prevents that a changed configuration is loaded', () => {
  const logger = Object.assign(new RecordingLogger(), { level: 'info' as LogLevel })
  const composition = { metrics: countingMetrics(new Map()), apply: () => {}, noteFile: () => {} }
  const { onRefused } = reloadHandlers(composition, logger)
  onRefused([])
  onRefused([], '    at load (load.ts:1:1)')
  expect(logger.lines.map(({ fields }) => loggable(fields)['stack'])).toEqual([undefined, '    at load (load.ts:1:1)'])
})
