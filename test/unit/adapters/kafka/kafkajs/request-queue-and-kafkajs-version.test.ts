import { afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals'
import { assertVersion, loadKafkajs } from '../../../../../src/adapters/kafka/kafkajs/load-kafkajs.ts'
import { internal } from '../../../../../src/adapters/kafka/kafkajs/private-api.ts'

beforeAll(() => {
  loadKafkajs()
})
afterEach(() => {
  jest.restoreAllMocks()
})

interface Queue {
  pending: unknown[]
  throttledUntil: number
  checkPendingRequests(): void
  maybeThrottle(ms: number): void
  push(request: object): void
  fulfillRequest(answer: { correlationId: number }): void
  scheduleRequestTimeoutCheck(): void
  destroy(): void
}

function newQueue(options: object = {}): Queue {
  const RequestQueue = internal<new (options: object) => Queue>('network/requestQueue')
  const logger = { debug: () => undefined, warn: () => undefined }
  return new RequestQueue({
    ...{ requestTimeout: 1_000, enforceRequestTimeout: true, clientId: 'x', broker: 'y', logger },
    ...options,
  })
}

describe('the request queue sets a timer only for pending requests', () => {
  it.each([
    { name: 'idle', pending: 0, throttledForMs: -1, timers: 0 },
    { name: 'throttled without pending requests', pending: 0, throttledForMs: 60_000, timers: 0 },
    { name: 'throttled with a pending request', pending: 1, throttledForMs: 60_000, timers: 1 },
  ])('$name', ({ pending, throttledForMs, timers }) => {
    const queue = newQueue()
    queue.pending = Array.from({ length: pending }, () => ({}))
    queue.throttledUntil = Date.now() + throttledForMs
    const setTimer = jest.spyOn(globalThis, 'setTimeout')
    queue.checkPendingRequests()
    expect(setTimer).toHaveBeenCalledTimes(timers)
    queue.destroy()
  })
})

describe('the check for overdue requests', () => {
  it('does not keep the process alive', () => {
    const queue = newQueue()
    const setTimer = jest.spyOn(globalThis, 'setInterval')
    queue.scheduleRequestTimeoutCheck()
    expect(setTimer.mock.results.map(({ value }) => (value as NodeJS.Timeout).hasRef())).toEqual([false])
    queue.destroy()
  })

  it('does not run when enforceRequestTimeout is off', () => {
    const setTimer = jest.spyOn(globalThis, 'setInterval')
    newQueue({ enforceRequestTimeout: false }).scheduleRequestTimeoutCheck()
    expect(setTimer).not.toHaveBeenCalled()
  })

  describe('the timeout begins with the previous response', () => {
    afterEach(() => {
      jest.useRealTimers()
    })

    const sent = (...ids: number[]): string => ids.map(id => `0 send ${id}`).join(', ')

    /**
     * A name, steps as `<ms> <send or answer> <request>`, and expected timeouts as `<ms>
     * <request>`.
     */
    it.each([
      [
        'restarts with each response to an earlier request',
        `${sent(1, 2, 3)}, 900 answer 1, 1800 answer 2, 2700 answer 3`,
        '',
      ],
      ['ends for all requests one timeout after the last response', `${sent(1, 2, 3)}, 900 answer 1`, '2000 2, 2000 3'],
      [
        'ends for a request whose response is lost, although later ones get responses',
        `${sent(1, 2, 3)}, 600 answer 2, 900 answer 3`,
        '1100 1',
      ],
      [
        'restarts with a late response to a request that has timed out',
        '0 send 1, 500 send 2, 1400 answer 1',
        '1100 1, 2500 2',
      ],
      [
        'ends after three times its length in any case',
        `${sent(1, 2, 3, 4, 5)}, 900 answer 1, 1800 answer 2, 2700 answer 3`,
        '3100 4, 3100 5',
      ],
    ])('%s', (_name, steps, timedOut) => {
      jest.useFakeTimers()
      const start = Date.now()
      const queue = newQueue()
      queue.scheduleRequestTimeoutCheck()
      const rejected: string[] = []
      const waitUntil = (atMs: number): void => jest.advanceTimersByTime(start + atMs - Date.now())
      for (const step of steps.split(', ')) {
        const [atMs, what, id] = step.split(' ')
        const correlationId = Number(id)
        waitUntil(Number(atMs))
        if (what === 'answer') {
          queue.fulfillRequest({ correlationId })
          continue
        }
        const reject = (): unknown => rejected.push(`${Date.now() - start} ${id}`)
        const entry = { apiKey: 0, apiName: 'Produce', apiVersion: 7, correlationId, resolve() {}, reject }
        queue.push({ entry, expectResponse: true, requestTimeout: null, sendRequest() {} })
      }
      waitUntil(10_000)
      queue.destroy()
      expect(rejected.join(', ')).toBe(timedOut)
    })
  })
})

describe('a wall clock that is set back by an hour', () => {
  beforeEach(() => {
    jest.useFakeTimers()
  })
  afterEach(() => {
    jest.useRealTimers()
  })

  const setBack = (): void => jest.setSystemTime(Date.now() - 3_600_000)
  const push = (queue: Queue, { sendRequest = () => {}, reject = () => {} }): void => {
    const entry = { apiKey: 0, apiName: 'Produce', apiVersion: 7, correlationId: 1, resolve() {}, reject }
    queue.push({ entry, expectResponse: true, requestTimeout: null, sendRequest })
  }

  it('does not delay the timeout of a request', () => {
    const queue = newQueue()
    queue.scheduleRequestTimeoutCheck()
    const reject = jest.fn()
    push(queue, { reject })
    setBack()
    jest.advanceTimersByTime(1_000)
    expect(reject).not.toHaveBeenCalled()
    jest.advanceTimersByTime(100)
    expect(reject).toHaveBeenCalledTimes(1)
    queue.destroy()
  })

  it.each([
    { name: 'before', pushedAfter: false },
    { name: 'after', pushedAfter: true },
  ])('does not prolong the throttle of a request that was pushed $name', ({ pushedAfter }) => {
    const queue = newQueue()
    queue.maybeThrottle(500)
    const sendRequest = jest.fn()
    if (!pushedAfter) push(queue, { sendRequest })
    setBack()
    if (pushedAfter) push(queue, { sendRequest })
    jest.advanceTimersByTime(499)
    expect(sendRequest).not.toHaveBeenCalled()
    jest.advanceTimersByTime(2)
    expect(sendRequest).toHaveBeenCalledTimes(1)
    queue.destroy()
  })
})

describe('an offset that is resolved after a rebalance', () => {
  interface Offsets {
    resolvedOffsets: Record<string, Record<string, string>>
    resolveOffset(position: { topic: string; partition: number; offset: string }): void
  }
  const offsets = (): Offsets => {
    const OffsetManager = internal<new (options: object) => Offsets>('consumer/offsetManager')
    return new OffsetManager({
      cluster: { committedOffsets: () => ({}) },
      memberAssignment: { owned: [0] },
      groupId: 'g',
    })
  }

  it.each([
    { name: 'is ignored when no partition of the topic is owned', topic: 'other', partition: 0, resolved: {} },
    { name: 'is ignored when its partition was revoked', topic: 'owned', partition: 1, resolved: {} },
    { name: 'counts when its partition is owned', topic: 'owned', partition: 0, resolved: { 0: '6' } },
  ])('$name', ({ topic, partition, resolved }) => {
    const manager = offsets()
    manager.resolveOffset({ topic, partition, offset: '5' })
    expect(manager.resolvedOffsets).toEqual({ owned: resolved })
  })
})

describe('the version of kafkajs', () => {
  it('is the one that the patches support', () => {
    expect(() => assertVersion('2.2.4')).not.toThrow()
  })

  it('is rejected when it is not the patched version, with the command that installs the right one', () => {
    expect(() => assertVersion('2.3.0')).toThrow(
      expect.objectContaining({
        code: 'LIBRARY_VERSION',
        message: expect.stringMatching(/kafkajs 2\.3\.0.*2\.2\.4.*npm ci/),
      }),
    )
  })
})
