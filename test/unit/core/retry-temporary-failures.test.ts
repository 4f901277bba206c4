import { expect, it } from '@jest/globals'
import { withRetries } from '../../../src/core/retry-temporary-failures.ts'
import { durationMs } from '../../../src/core/time.ts'
import { ManualClock, turns } from '../../support/manual-clock.ts'

it('repeats work for a minute after its first failure, however long the first call took', async () => {
  const clock = new ManualClock()
  let calls = 0
  const work = async (): Promise<string> => {
    if (++calls > 1) return 'done'
    await clock.advance(durationMs(90_000))
    throw new Error('lost')
  }
  const result = withRetries(work, () => true, { clock, signal: new AbortController().signal })
  await turns(5)
  await clock.advance(durationMs(1_000))
  expect(await result).toBe('done')
})
