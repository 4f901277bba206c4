import { afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals'
import { assertVersion, loadKafkajs } from '../../../../../../src/adapters/kafka/kafkajs/kafkajs.ts'
import { internal } from '../../../../../../src/adapters/kafka/kafkajs/private-api.ts'

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
  push(request: object): void
  fulfillRequest(answer: { correlationId: number }): void
  scheduleRequestTimeoutCheck(): void
  destroy(): void
}

/** With a time-out of a second. */
function newQueue(options: object = {}): Queue {
  const RequestQueue = internal<new (options: object) => Queue>('network/requestQueue')
  const logger = { debug: () => undefined, warn: () => undefined }
  return new RequestQueue({
    ...{ requestTimeout: 1_000, enforceRequestTimeout: true, clientId: 'x', broker: 'y', logger },
    ...options,
  })
}

describe('the request queue sets a timer only for what waits', () => {
  it.each([
    { name: 'idle', pending: 0, throttledForMs: -1, timers: 0 },
    { name: 'throttled, nothing waits', pending: 0, throttledForMs: 60_000, timers: 0 },
    { name: 'throttled, one waits', pending: 1, throttledForMs: 60_000, timers: 1 },
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

describe('the look for overdue requests', () => {
  it('does not keep a process alive that has nothing else to do', () => {
    const queue = newQueue()
    const setTimer = jest.spyOn(globalThis, 'setInterval')
    queue.scheduleRequestTimeoutCheck()
    expect(setTimer.mock.results.map(({ value }) => (value as NodeJS.Timeout).hasRef())).toEqual([false])
    queue.destroy()
  })

  it('is not for those that want none', () => {
    const setTimer = jest.spyOn(globalThis, 'setInterval')
    newQueue({ enforceRequestTimeout: false }).scheduleRequestTimeoutCheck()
    expect(setTimer).not.toHaveBeenCalled()
  })

  describe('a broker works at one request of a connection after the other', () => {
    afterEach(() => {
      jest.useRealTimers()
    })

    interface Given {
      /** At which milliseconds a request is sent, or its answer comes; in their order. */
      readonly steps: readonly (readonly [atMs: number, what: 'send' | 'answer', correlationId: number])[]
      readonly givenUp: readonly (readonly [atMs: number, correlationId: number])[]
    }
    const threeSent = [1, 2, 3].map(id => [0, 'send', id] as const)
    const fiveSent = [1, 2, 3, 4, 5].map(id => [0, 'send', id] as const)

    it.each<[string, Given]>([
      [
        'a request is not overdue while those before it are answered one by one',
        { steps: [...threeSent, [900, 'answer', 1], [1_800, 'answer', 2], [2_700, 'answer', 3]], givenUp: [] },
      ],
      [
        'when nothing is answered any more, all are overdue a time-out later',
        {
          steps: [...threeSent, [900, 'answer', 1]],
          givenUp: [
            [2_000, 2],
            [2_000, 3],
          ],
        },
      ],
      [
        'one whose answer is lost is overdue though those after it are answered',
        { steps: [...threeSent, [600, 'answer', 2], [900, 'answer', 3]], givenUp: [[1_100, 1]] },
      ],
      [
        'the answer to one that was given up says that the next one has its turn',
        {
          steps: [
            [0, 'send', 1],
            [500, 'send', 2],
            [1_400, 'answer', 1],
          ],
          givenUp: [
            [1_100, 1],
            [2_500, 2],
          ],
        },
      ],
      [
        'none waits longer than three time-outs',
        {
          steps: [...fiveSent, [900, 'answer', 1], [1_800, 'answer', 2], [2_700, 'answer', 3]],
          givenUp: [
            [3_100, 4],
            [3_100, 5],
          ],
        },
      ],
    ])('%s', (_name, { steps, givenUp }) => {
      jest.useFakeTimers()
      const start = Date.now()
      const queue = newQueue()
      queue.scheduleRequestTimeoutCheck()
      const rejected: [atMs: number, correlationId: number][] = []
      const waitUntil = (atMs: number): void => jest.advanceTimersByTime(start + atMs - Date.now())
      for (const [atMs, what, correlationId] of steps) {
        waitUntil(atMs)
        if (what === 'answer') {
          queue.fulfillRequest({ correlationId })
          continue
        }
        const reject = (): unknown => rejected.push([Date.now() - start, correlationId])
        const entry = { apiKey: 0, apiName: 'Produce', apiVersion: 7, correlationId, resolve() {}, reject }
        queue.push({ entry, expectResponse: true, requestTimeout: null, sendRequest() {} })
      }
      waitUntil(10_000)
      queue.destroy()
      expect(rejected).toEqual(givenUp)
    })
  })
})

describe('a position that comes too late', () => {
  interface Offsets {
    resolvedOffsets: Record<string, Record<string, string>>
    resolveOffset(position: { topic: string; partition: number; offset: string }): void
  }
  const offsets = (): Offsets => {
    const OffsetManager = internal<new (options: object) => Offsets>('consumer/offsetManager')
    return new OffsetManager({
      cluster: { committedOffsets: () => ({}) },
      memberAssignment: { ours: [0] },
      groupId: 'g',
    })
  }

  it.each([
    { name: 'of a topic that is not ours any more', topic: 'theirs', partition: 0, resolved: {} },
    { name: 'of a partition that is not ours any more', topic: 'ours', partition: 1, resolved: {} },
    { name: 'of what is ours counts', topic: 'ours', partition: 0, resolved: { 0: '6' } },
  ])('$name', ({ topic, partition, resolved }) => {
    const manager = offsets()
    manager.resolveOffset({ topic, partition, offset: '5' })
    expect(manager.resolvedOffsets).toEqual({ ours: resolved })
  })
})

describe('the version', () => {
  it('is the one that the patches are for', () => {
    expect(() => assertVersion('2.2.4')).not.toThrow()
  })

  it('of another release is refused, with what to do', () => {
    expect(() => assertVersion('2.3.0')).toThrow(
      expect.objectContaining({
        code: 'LIBRARY_VERSION',
        message: expect.stringMatching(/kafkajs 2\.3\.0.*2\.2\.4.*npm ci/),
      }),
    )
  })
})
