import { expect, it } from '@jest/globals'
import { type EventLoopWatch, watchEventLoop } from '../../../../src/adapters/clock/watch-cpu-saturation.ts'
import { flowLimits } from '../../../../src/core/flow/flow-control-constants.ts'
import { closingAfterEach } from '../../../support/cleanup.ts'
import { until } from '../../../support/kafka/admin.ts'

const closing = closingAfterEach()

function watched(): EventLoopWatch {
  const watch = watchEventLoop()
  closing({ close: async () => watch.stop() })
  return watch
}

async function beBusyUntil(isSeen: () => boolean): Promise<void> {
  while (!isSeen()) await new Promise<void>(resolve => setImmediate(resolve))
}

it('a process whose event loop is never idle lacks CPU', async () => {
  const watch = watched()
  expect(watch.cpuSaturatedUntil()).toBe(Number.NEGATIVE_INFINITY)
  const startedAt = performance.now()
  await beBusyUntil(() => watch.cpuSaturatedUntil() > startedAt)
  expect(watch.cpuSaturatedUntil()).toBeGreaterThan(startedAt)
})

it('a process whose event loop is idle again does not lack CPU', async () => {
  const watch = watched()
  await beBusyUntil(() => watch.cpuSaturatedUntil() > 0)
  // While the process lacks CPU, the reported time is never older than this.
  const { lateMs } = flowLimits.cpuSaturation
  await until(async () => performance.now() - watch.cpuSaturatedUntil() > lateMs || undefined)
})
