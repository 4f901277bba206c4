import { expect, it } from '@jest/globals'
import { countLogLines } from '../../../../src/app/compose/count-log-lines.ts'
import { countingMetrics } from '../../../support/telemetry/counting-metrics.ts'
import { silent } from '../../../support/telemetry/silent-logger.ts'

it('counts warnings and errors and forwards all lines', () => {
  const counts = new Map<string, number>()
  const metrics = countingMetrics(counts)
  const lines: string[] = []
  const keep = (level: string) => (_: object, line: string) => void lines.push(`${level} ${line}`)
  const each = { debug: keep('debug'), info: keep('info'), warn: keep('warn'), error: keep('error') }
  const logger = countLogLines({ ...silent, ...each, isLevelEnabled: () => true }, metrics)
  logger.debug({}, 'a')
  logger.info({}, 'b')
  logger.warn({}, 'c')
  logger.error({}, 'd')
  expect(lines).toEqual(['debug a', 'info b', 'warn c', 'error d'])
  expect(Object.fromEntries(counts)).toEqual({ 'logLines{warn}': 1, 'logLines{error}': 1 })
  expect(logger.isLevelEnabled('debug')).toBe(true)
})
