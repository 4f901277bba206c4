import { expect, it } from '@jest/globals'
import { trackMessage } from '../../../support/collector/normalised-track-message.ts'
import { DispatcherHarness } from '../../../support/dispatcher/harness.ts'

it('two first attempts of one user keep their order when the clock steps back between them', async () => {
  const harness = await DispatcherHarness.started({ delivery: { maxInFlight: 1 } })
  harness.live.confirmed = false
  for (const id of ['first', 'second']) harness.write({ message: trackMessage(id, { userId: 'u' }) })
  await harness.advance(1)
  harness.clock.step(-800)
  harness.live.confirmed = true
  harness.live.handlers?.onLeaseAcquired()
  await harness.advance(5_000)
  expect(harness.calls.map(({ call }) => call.headers['X-Message-Id'])).toEqual(['first', 'second'])
})
