import { expect, it } from '@jest/globals'
import { createProxyFailureLog } from '../../../../src/services/dispatcher/proxy-failure-log.ts'
import { ManualClock } from '../../../support/manual-clock.ts'
import { RecordingLogger } from '../../../support/telemetry/recording-logger.ts'

const failure = { kind: 'failed', phase: 'proxy', code: 'ECONNREFUSED', detail: 'proxy p: refused' } as const

it('logs the first failure, and then one line every 10 s with the number of failures', async () => {
  const clock = new ManualClock()
  const logger = new RecordingLogger()
  const log = createProxyFailureLog({ clock, logger })
  const fail = (destination: string): void => log({ destination, webhook: '0' }, failure)
  fail('crm')
  for (let count = 0; count < 5; count++) fail('erp')
  await clock.advance(9_999)
  fail('erp')
  await clock.advance(1)
  fail('billing')
  const shown = { webhook: '0', outcome: 'proxy', code: 'ECONNREFUSED', detail: 'proxy p: refused' }
  expect(logger.lines.map(({ level, fields }) => ({ level, ...fields }))).toEqual([
    { level: 'error', destination: 'crm', count: 1, ...shown },
    { level: 'error', destination: 'billing', count: 7, ...shown },
  ])
})
