import { describe, expect, it } from '@jest/globals'
import { finishWithin } from '../../../packages/client/src/exit-guard.ts'
import {
  entry,
  type Respond,
  retry,
  senderHarness,
  settled,
  taken,
  trouble,
} from '../../support/client/sender-harness.ts'

/** A sender at the end of a process, with `exitTimeoutMs: 1_000`. */
function exiting(respond: Respond, onFailed: (messageId: string) => void = () => {}) {
  const harness = senderHarness(respond, {}, ({ messageIds }) => messageIds.forEach(onFailed))
  const finish = finishWithin(1_000, harness.sender, harness.clock)
  return { ...harness, finish: () => void finish() }
}

describe('the time limit of the exit', () => {
  it('covers all drains together, even if a listener later queues the failed messages again', async () => {
    const refuses: Respond = () => new Promise(resolve => clock.after(400, () => resolve({ kind: 'refused', trouble })))
    const { add, clock, finish, failures, tries, sender, advance } = exiting(refuses, messageId =>
      setImmediate(() => void sender.add(entry(messageId))),
    )
    add(1)
    for (let exit = 0; exit < 10; exit += 1) {
      finish()
      await advance(500)
    }
    expect(tries.map(({ atMs }) => atMs)).toEqual([0, 500, 1_000])
    expect(failures.map(({ reason }) => reason)).toEqual(['refused', 'refused', 'out_of_time', 'out_of_time'])
    expect(failures.at(-1)?.detail).toContain('within 1000 ms')
    expect(sender.counts).toMatchObject({ failed: 4, waiting: 1 })
  })

  it('starts again after the program has continued for other reasons', async () => {
    let isDown = true
    const hangs: Respond = (_, __, signal) =>
      new Promise(resolve => signal.addEventListener('abort', () => resolve(retry())))
    const { add, finish, sent, failures, advance } = exiting((...request) => (isDown ? hangs(...request) : taken))
    add(1)
    finish()
    await advance(1_000)
    finish()
    expect(failures.map(({ reason }) => reason)).toEqual(['out_of_time'])
    isDown = false
    await advance(60_000)
    add(1)
    finish()
    await settled()
    expect(sent).toEqual(['m2'])
  })
})
