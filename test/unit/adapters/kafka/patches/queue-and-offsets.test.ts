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
  it('does not keep a process alive that has nothing else to do', () => {
    interface Queue {
      scheduleRequestTimeoutCheck(): void
      destroy(): void
    }
    const RequestQueue = internal<new (options: object) => Queue>('network/requestQueue')
    const queue = new RequestQueue({ requestTimeout: 1_000, enforceRequestTimeout: true, clientId: 'x', broker: 'y' })
    const setTimer = jest.spyOn(globalThis, 'setInterval')
    queue.scheduleRequestTimeoutCheck()
    expect(setTimer.mock.results.map(({ value }) => (value as NodeJS.Timeout).hasRef())).toEqual([false])
    queue.destroy()
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
