import { expect, it } from '@jest/globals'
import { trackMessage } from '../../../support/collector/normalised-track-message.ts'
import { DispatcherHarness, ok } from '../../../support/dispatcher/harness.ts'

it('a dispatcher with one consumer that cannot start finishes the requests of the other one at its stop', async () => {
  const latency = 1_000
  const harness = new DispatcherHarness({ answer: () => ok, latencyMs: () => latency })
  harness.retries.start = () => Promise.reject(new Error('cannot join group retries'))
  await harness.marks.start()
  await expect(harness.service.start()).rejects.toThrow('cannot join group retries')
  harness.write({ message: trackMessage('m0') })
  await harness.advance(1)
  const stopped = harness.service.stop()
  harness.write({ message: trackMessage('m1') })
  await harness.advance(latency)
  await stopped
  expect(harness.calls).toHaveLength(1)
  expect(harness.log.committed('live', harness.topics.events)).toBe(1)
  expect(harness.live.handlers).toBeUndefined()
})
