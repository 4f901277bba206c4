import { expect, it } from '@jest/globals'
import { type EventLoopWatch, watchEventLoop } from '../../../../src/adapters/clock/event-loop.ts'
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

it('a process whose event loop never waits is out of CPU', async () => {
  const watch = watched()
  expect(watch.cpuSaturatedUntil()).toBe(Number.NEGATIVE_INFINITY)
  const startedAt = performance.now()
  await beBusyUntil(() => watch.cpuSaturatedUntil() > startedAt)
  expect(watch.cpuSaturatedUntil()).toBeGreaterThan(startedAt)
})

it('one that waits again is not any more', async () => {
  const watch = watched()
  await beBusyUntil(() => watch.cpuSaturatedUntil() > 0)
  // Two looks and more have come since, in time, and have seen it wait.
  await until(async () => performance.now() - watch.cpuSaturatedUntil() > 1_000 || undefined)
})
