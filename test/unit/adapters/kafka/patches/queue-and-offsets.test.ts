import { afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals'
import { internal } from '../../../../../src/adapters/kafka/internals.ts'
import { assertVersion, loadKafkajs } from '../../../../../src/adapters/kafka/library.ts'

beforeAll(() => {
  loadKafkajs()
})
afterEach(() => {
  jest.restoreAllMocks()
})

describe('the request queue sets a timer only for what waits', () => {
  interface Queue {
    pending: unknown[]
    throttledUntil: number
    checkPendingRequests(): void
    destroy(): void
  }
  const quiet = { debug: () => undefined }

  it.each([
    { name: 'idle', pending: 0, throttledForMs: -1, timers: 0 },
    { name: 'throttled, nothing waits', pending: 0, throttledForMs: 60_000, timers: 0 },
    { name: 'throttled, one waits', pending: 1, throttledForMs: 60_000, timers: 1 },
  ])('$name', ({ pending, throttledForMs, timers }) => {
    const RequestQueue = internal<new (options: object) => Queue>('network/requestQueue')
    const queue = new RequestQueue({ requestTimeout: 1_000, clientId: 'x', broker: 'y', logger: quiet })
    queue.pending = Array.from({ length: pending }, () => ({}))
    queue.throttledUntil = Date.now() + throttledForMs
    const setTimer = jest.spyOn(globalThis, 'setTimeout')
    queue.checkPendingRequests()
    expect(setTimer).toHaveBeenCalledTimes(timers)
    queue.destroy()
  })
})

describe('the look for overdue requests', () => {
  interface Queue {
    push(request: object): void
    fulfillRequest(answer: { correlationId: number }): void
    scheduleRequestTimeoutCheck(): void
    destroy(): void
  }
  const queueWith = (options: object = {}): Queue => {
    const RequestQueue = internal<new (options: object) => Queue>('network/requestQueue')
    const logger = { debug: () => undefined, warn: () => undefined }
    return new RequestQueue({
      ...{ requestTimeout: 1_000, enforceRequestTimeout: true, clientId: 'x', broker: 'y', logger },
      ...options,
    })
  }

  it('does not keep a process alive that has nothing else to do', () => {
    const queue = queueWith()
    const setTimer = jest.spyOn(globalThis, 'setInterval')
    queue.scheduleRequestTimeoutCheck()
    expect(setTimer.mock.results.map(({ value }) => (value as NodeJS.Timeout).hasRef())).toEqual([false])
    queue.destroy()
  })

  it('is not for those that want none', () => {
    const setTimer = jest.spyOn(globalThis, 'setInterval')
    queueWith({ enforceRequestTimeout: false }).scheduleRequestTimeoutCheck()
    expect(setTimer).not.toHaveBeenCalled()
  })

  describe('a broker works at one request of a connection after the other; a time-out of a second', () => {
    afterEach(() => {
      jest.useRealTimers()
    })

    /** Sends and answers when it is told to. Tells which were given up, and when. */
    const connection = () => {
      jest.useFakeTimers()
      const start = Date.now()
      const queue = queueWith()
      queue.scheduleRequestTimeoutCheck()
      const givenUp: [correlationId: number, afterMs: number][] = []
      const wait = (untilMs: number): void => jest.advanceTimersByTime(start + untilMs - Date.now())
      return {
        givenUp,
        sendAt(afterMs: number, ...correlationIds: readonly number[]): void {
          wait(afterMs)
          for (const correlationId of correlationIds) {
            const reject = (): unknown => givenUp.push([correlationId, Date.now() - start])
            const entry = { apiKey: 0, apiName: 'Produce', apiVersion: 7, correlationId, resolve() {}, reject }
            queue.push({ entry, expectResponse: true, requestTimeout: null, sendRequest() {} })
          }
        },
        answerAt(afterMs: number, correlationId: number): void {
          wait(afterMs)
          queue.fulfillRequest({ correlationId })
        },
        endAt(afterMs: number): void {
          wait(afterMs)
          queue.destroy()
        },
      }
    }

    it('a request is not overdue while those before it are answered one by one', () => {
      const { givenUp, sendAt, answerAt, endAt } = connection()
      sendAt(0, 1, 2, 3)
      answerAt(900, 1)
      answerAt(1_800, 2)
      answerAt(2_700, 3)
      endAt(10_000)
      expect(givenUp).toEqual([])
    })

    it('when nothing is answered any more, all are overdue a time-out later', () => {
      const { givenUp, sendAt, answerAt, endAt } = connection()
      sendAt(0, 1, 2, 3)
      answerAt(900, 1)
      endAt(10_000)
      expect(givenUp).toEqual([
        [2, 2_000],
        [3, 2_000],
      ])
    })

    it('one whose answer is lost is overdue though those after it are answered', () => {
      const { givenUp, sendAt, answerAt, endAt } = connection()
      sendAt(0, 1, 2, 3)
      answerAt(600, 2)
      answerAt(900, 3)
      endAt(10_000)
      expect(givenUp).toEqual([[1, 1_100]])
    })

    it('the answer to one that was given up says that the next one has its turn', () => {
      const { givenUp, sendAt, answerAt, endAt } = connection()
      sendAt(0, 1)
      sendAt(500, 2)
      answerAt(1_400, 1)
      endAt(10_000)
      expect(givenUp).toEqual([
        [1, 1_100],
        [2, 2_500],
      ])
    })

    it('none waits longer than three time-outs', () => {
      const { givenUp, sendAt, answerAt, endAt } = connection()
      sendAt(0, 1, 2, 3, 4, 5)
      answerAt(900, 1)
      answerAt(1_800, 2)
      answerAt(2_700, 3)
      endAt(10_000)
      expect(givenUp).toEqual([
        [4, 3_100],
        [5, 3_100],
      ])
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
  it('is the one that the cures are for', () => {
    expect(() => assertVersion('2.2.4')).not.toThrow()
  })

  it('of another kind is named, with what to do', () => {
    expect(() => assertVersion('2.3.0')).toThrow(
      expect.objectContaining({
        code: 'LIBRARY_VERSION',
        message: expect.stringMatching(/kafkajs 2\.3\.0.*2\.2\.4.*npm ci/),
      }),
    )
  })
})
