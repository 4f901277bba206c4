import { describe, expect, it } from '@jest/globals'
import { createBootTime, createBrokerAlignedClock } from '../../../../src/adapters/clock/broker-aligned-clock.ts'
import { epochMs } from '../../../../src/core/time.ts'

const start = Date.parse('2026-03-01T00:00:00.000Z')
const second = 1_000
const hour = 3_600_000

/** A simulated machine: its clocks, and methods that let time pass. */
class Machine {
  wall = start
  monotonic = 5_000.5
  uptime = 90_000

  runs(ms: number, rate = 1): void {
    this.wall += Math.round(ms * rate)
    this.monotonic += ms
    this.uptime += ms
  }

  /**
   * Applies events, each `word:seconds`. `fast`: time passes with a wall clock 0.05 % too fast.
   * `set`: the wall clock changes. `sleeps`: the machine is suspended.
   */
  does(events: string, look?: () => void): void {
    for (const event of events.split(' ')) {
      const [word, seconds] = event.split(':')
      const ms = Number(seconds) * second
      if (word === 'runs') this.runs(ms)
      else if (word === 'fast') this.runs(ms, 1.0005)
      else if (word === 'look') look?.()
      else this.wall += ms
      if (word === 'sleeps') this.uptime += ms
    }
  }
}

const cases: readonly [string, events: string, nowSeconds: number, offsetSeconds: number][] = [
  ['nothing', 'runs:7', 7, 0],
  ['an hour ahead', 'set:3600 runs:3', 3, 3_600],
  ['an hour back', 'set:-3600 runs:3', 3, -3_600],
  ['an hour ahead, read often, then corrected', `set:3600 ${'runs:1 look '.repeat(10)}set:-3600 runs:1`, 11, 0],
  ['set twice', 'set:3600 look set:3600 look runs:1', 1, 7_200],
  ['corrected by half a second by a time server', `${'set:0.5 look '.repeat(4)}runs:1`, 3, 0],
  ['a clock that runs faster, read after hours', 'fast:14400', 14_400 * 1.0005, 0],
  ['suspended for a night', 'sleeps:28800 look runs:1', 28_801, 0],
  ['set, then suspended: the offset stays the same', 'set:3600 look sleeps:28800 look runs:1', 28_801, 3_600],
]

describe('monotonic time', () => {
  it.each(cases)('%s', (_, events, now, offset) => {
    const machine = new Machine()
    const steady = createBrokerAlignedClock({
      wall: () => machine.wall,
      monotonic: () => machine.monotonic,
      uptime: () => machine.uptime,
    })
    machine.does(events, () => steady.now())
    expect(Math.abs(steady.now() - start - now * second)).toBeLessThanOrEqual(1)
    expect(Math.abs(steady.clockAheadMs() - offset * second)).toBeLessThanOrEqual(1)
    expect(Number.isInteger(steady.now())).toBe(true)
  })
})

describe("the brokers' time", () => {
  const started = (wallOff: number) => {
    const machine = new Machine()
    const time = { broker: start }
    machine.wall += wallOff
    const steady = createBrokerAlignedClock({
      wall: () => machine.wall,
      monotonic: () => machine.monotonic,
      uptime: () => machine.uptime,
    })
    const runs = (ms: number): void => {
      machine.runs(ms)
      time.broker += ms
    }
    /** The clock of the record's broker is `off` ms ahead of the other brokers' clocks. */
    const writes = (off = 0): void => {
      const sentAt = machine.monotonic
      runs(5)
      const appendedAt = epochMs(time.broker + off)
      runs(5)
      steady.learn({ sentAt, answeredAt: machine.monotonic, appendedAt })
    }
    const error = (): number => steady.now() - time.broker
    return { machine, time, steady, runs, writes, error }
  }

  it.each([hour, -hour, 60 * second, -60 * second])(
    'is followed by a process whose clock is %d ms off at its start',
    off => {
      const { steady, runs, writes, error } = started(off)
      writes()
      runs(hour)
      expect(Math.abs(error())).toBeLessThanOrEqual(10)
      expect(Math.abs(steady.clockAheadMs() - off)).toBeLessThanOrEqual(10)
    },
  )

  it('does not correct a skew of a fraction of a second', () => {
    const { steady, writes, error } = started(300)
    writes()
    expect(error()).toBe(300)
    expect(steady.clockAheadMs()).toBe(0)
  })

  it('is restored after the machine was paused from outside', () => {
    const { machine, time, runs, writes, error } = started(0)
    for (let count = 0; count < 5; count++) writes()
    // The machine was paused for an hour, which its monotonic clock and uptime do not count.
    time.broker += hour
    machine.wall += hour
    for (let count = 0; count < 3; count++) writes()
    runs(second)
    expect(Math.abs(error())).toBeLessThanOrEqual(10)
  })

  it('is the median of the brokers: one wrong clock has no effect', () => {
    const { writes, error } = started(0)
    for (let count = 0; count < 9; count++) {
      writes(count % 3 === 1 ? hour : 0)
      expect(Math.abs(error())).toBeLessThanOrEqual(10)
    }
  })

  it('ignores an acknowledgement that waited while the process was suspended', () => {
    const { machine, time, steady, runs, error } = started(0)
    const sentAt = machine.monotonic
    const appendedAt = epochMs(time.broker)
    runs(20 * second)
    steady.learn({ sentAt, answeredAt: machine.monotonic, appendedAt })
    expect(error()).toBe(0)
  })

  it("the machine's clock has no offset after it is corrected", () => {
    const { machine, steady, runs, writes, error } = started(hour)
    writes()
    machine.wall -= hour
    runs(second)
    expect(Math.abs(error())).toBeLessThanOrEqual(10)
    expect(Math.abs(steady.clockAheadMs())).toBeLessThanOrEqual(10)
  })
})

describe('boot time', () => {
  it.each([
    ['continues evenly', 'runs:7', 7],
    ['counts the time that the machine was suspended', 'sleeps:3600', 3_600],
    ['never goes backwards', 'set:-3600', 0],
    ['counts a clock that is set forward, which is the safe side', 'set:3600', 3_600],
    ['does not count corrections of a time server', 'set:0.4', 0],
  ])('%s', (_, events, elapsed) => {
    const machine = new Machine()
    const boottime = createBootTime({ wall: () => machine.wall, monotonic: () => machine.monotonic })
    const before = boottime()
    machine.does(events)
    expect(boottime() - before).toBe(elapsed * second)
  })
})
