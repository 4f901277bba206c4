import { describe, expect, it } from '@jest/globals'
import {
  type RequestInProgress,
  RequestsInProgress,
} from '../../../../src/adapters/webhook/transport-for-any-http-client.ts'
import { durationMs } from '../../../../src/core/time.ts'
import type { CallResult } from '../../../../src/core/webhook-ports.ts'
import { ManualClock, turns } from '../../../support/manual-clock.ts'

const answer: CallResult = { kind: 'answered', status: 200, retryAfter: undefined }

function start() {
  const clock = new ManualClock()
  const underWay = new RequestsInProgress(clock, durationMs(5_000))
  const expired: string[] = []
  const begin = (name: string, isSent = true, next = () => {}, timeoutMs?: number) => {
    const call = underWay.add(next, timeoutMs === undefined ? undefined : durationMs(timeoutMs))
    call.expiring = {
      isSent,
      expire(after) {
        expired.push(`${name} at ${clock.monotonic()} after ${after}`)
        call.ended(answer)
      },
    }
    return call
  }
  return { clock, underWay, expired, begin }
}

describe('requests in progress', () => {
  it('expire at their own deadlines, with one timer for all', async () => {
    const { clock, begin, expired } = start()
    begin('a')
    await clock.advance(1_000, turns)
    begin('b')
    begin('c')
    expect(clock.timers).toBe(1)
    await clock.advance(10_000, turns)
    expect(expired).toEqual(['a at 5000 after 5s', 'b at 6000 after 5s', 'c at 6000 after 5s'])
    expect(clock.timers).toBe(0)
  })

  it('have one timer also when each expired request starts another one', async () => {
    const { clock, begin, expired } = start()
    const next = (): void => void begin('next', true, next)
    for (const name of ['a', 'b', 'c']) {
      begin(name, true, next)
      await clock.advance(1_000, turns)
    }
    await clock.advance(5_000, turns)
    expect(expired).toEqual(['a at 5000 after 5s', 'b at 6000 after 5s', 'c at 7000 after 5s'])
    expect(clock.timers).toBe(1)
  })

  it('expire after their own time limits, with one timer for each limit', async () => {
    const { clock, begin, expired } = start()
    const beginWith = (name: string, timeoutMs?: number) => begin(name, true, () => {}, timeoutMs)
    beginWith('a')
    beginWith('b', 1_000)
    await clock.advance(500, turns)
    beginWith('c', 1_000)
    beginWith('d', 4_800)
    expect(clock.timers).toBe(3)
    await clock.advance(10_000, turns)
    expect(expired).toEqual([
      'b at 1000 after 1s',
      'c at 1500 after 1s',
      'a at 5000 after 5s',
      'd at 5300 after 4800ms',
    ])
    expect(clock.timers).toBe(0)
  })

  it('do not expire after they have ended, in any order', async () => {
    const { clock, begin, expired } = start()
    const calls = [begin('a'), begin('b'), begin('c')]
    for (const index of [0, 2]) calls[index]!.ended(answer)
    await clock.advance(4_000, turns)
    begin('d')
    await clock.advance(10_000, turns)
    expect(expired).toEqual(['b at 5000 after 5s', 'd at 9000 after 5s'])
  })

  it('have their whole time limit when they start after all others have ended', async () => {
    const { clock, begin, expired } = start()
    begin('a').ended(answer)
    await clock.advance(4_999, turns)
    begin('b')
    await clock.advance(10_000, turns)
    expect(expired).toEqual(['b at 9999 after 5s'])
  })

  it('end with a response that arrived while the process was suspended, and not with a timeout', async () => {
    const { clock, begin, expired } = start()
    const [answered] = [begin('a'), begin('b')]
    // The timer fires before the sockets are read. Responses may have arrived, so the requests must
    // not end yet.
    await clock.advance(5_000)
    expect(expired).toEqual([])
    answered.ended(answer)
    await turns()
    expect(expired).toEqual(['b at 5000 after 5s'])
  })

  it('are not sent when their deadline passed while the process was suspended', async () => {
    const { clock, begin, expired } = start()
    begin('sent')
    begin('not sent', false)
    await clock.advance(5_000)
    expect(expired).toEqual(['not sent at 5000 after 5s'])
    await turns()
    expect(expired).toEqual(['not sent at 5000 after 5s', 'sent at 5000 after 5s'])
  })

  it('set the timer again when it fires early', async () => {
    const expired: string[] = []
    const timers: [number, () => void][] = []
    let now = 0
    const clock = Object.assign(new ManualClock(), {
      monotonic: () => now,
      after: (delay: number, run: () => void) => {
        timers.push([delay, run])
        return () => {}
      },
    })
    const early = new RequestsInProgress(clock, durationMs(250))
    early.add(() => {}).expiring = { isSent: true, expire: () => void expired.push('expired') }
    now = 249.4
    timers[0]![1]()
    await turns()
    expect(expired).toEqual([])
    expect(timers.map(([delay]) => delay)).toEqual([250, 1])
    now = 250
    timers[1]![1]()
    await turns()
    expect(expired).toEqual(['expired'])
  })
})

describe('drained', () => {
  it('waits for the last request, and for those that it starts when it ends', async () => {
    const { clock, underWay, begin } = start()
    const order: string[] = []
    let second: RequestInProgress | undefined
    const first = begin('a', true, () => {
      second = begin('b', true, () => order.push('b ended'))
    })
    const drained = [underWay.drained(), underWay.drained()].map(each => each.then(() => order.push('drained')))
    first.ended(answer)
    await clock.advance(1)
    order.push('a ended')
    second?.ended(answer)
    await Promise.all(drained)
    expect(order).toEqual(['a ended', 'b ended', 'drained', 'drained'])
    expect(clock.timers).toBe(0)
  })

  it('waits for requests of every time limit, and leaves no timer', async () => {
    const { clock, underWay, begin } = start()
    let isDrained = false
    const [usual, short] = [begin('usual'), begin('short', true, () => {}, 1_000)]
    const drained = underWay.drained().then(() => {
      isDrained = true
    })
    usual.ended(answer)
    await clock.advance(1)
    expect(isDrained).toBe(false)
    short.ended(answer)
    await drained
    expect(clock.timers).toBe(0)
  })

  it('leaves no timer when the timer has just fired', async () => {
    const { clock, underWay, begin, expired } = start()
    const call = begin('a')
    await clock.advance(5_000)
    call.ended(answer)
    await underWay.drained()
    begin('after the end')
    await clock.advance(4_999, turns)
    expect(expired).toEqual([])
  })
})
