import { describe, expect, it } from '@jest/globals'
import { createBootTime, createBrokerAlignedClock } from '../../../../src/adapters/clock/broker-aligned-clock.ts'
import { epochMs } from '../../../../src/core/units.ts'

const start = Date.parse('2026-03-01T00:00:00.000Z')
const second = 1_000
const hour = 3_600_000

/** A simulated machine: methods for events, and what its clocks show after them. */
class Machine {
  wall = start
  monotonic = 5_000.5
  uptime = 90_000

  runs(ms: number, rate = 1): void {
    this.wall += Math.round(ms * rate)
    this.monotonic += ms
    this.uptime += ms
  }

  isSet(ms: number): void {
    this.wall += ms
  }

  isSuspended(ms: number): void {
    this.wall += ms
    this.uptime += ms
  }
}

interface Case {
  readonly name: string
  readonly happens: (machine: Machine, look: () => void) => void
  /** Milliseconds since the start. */
  readonly now: number
  readonly offset: number
}

const cases: readonly Case[] = [
  { name: 'nothing', happens: machine => machine.runs(7 * second), now: 7 * second, offset: 0 },
  {
    name: 'an hour ahead',
    happens: machine => {
      machine.wall += hour
      machine.runs(3 * second)
    },
    ...{ now: 3 * second, offset: hour },
  },
  {
    name: 'an hour back',
    happens: machine => {
      machine.wall -= hour
      machine.runs(3 * second)
    },
    ...{ now: 3 * second, offset: -hour },
  },
  {
    name: 'an hour ahead, read often, then corrected',
    happens(machine, look) {
      machine.wall += hour
      for (let count = 0; count < 10; count++) {
        machine.runs(second)
        look()
      }
      machine.wall -= hour
      machine.runs(second)
    },
    ...{ now: 11 * second, offset: 0 },
  },
  {
    name: 'set twice',
    happens(machine, look) {
      machine.wall += hour
      look()
      machine.wall += hour
      look()
      machine.runs(second)
    },
    ...{ now: second, offset: 2 * hour },
  },
  {
    name: 'corrected by half a second by a time server',
    happens(machine, look) {
      for (let count = 0; count < 4; count++) {
        machine.wall += 500
        look()
      }
      machine.runs(second)
    },
    ...{ now: 3 * second, offset: 0 },
  },
  {
    name: 'a clock that runs faster, read after hours',
    happens: machine => machine.runs(4 * hour, 1.0005),
    ...{ now: 4 * hour * 1.0005, offset: 0 },
  },
  {
    name: 'suspended for a night',
    happens(machine, look) {
      machine.isSuspended(8 * hour)
      look()
      machine.runs(second)
    },
    ...{ now: 8 * hour + second, offset: 0 },
  },
  {
    name: 'set, then suspended: the offset stays the same',
    happens(machine, look) {
      machine.wall += hour
      look()
      machine.isSuspended(8 * hour)
      look()
      machine.runs(second)
    },
    ...{ now: 8 * hour + second, offset: hour },
  },
]

describe('monotonic time', () => {
  it.each(cases)('$name', ({ happens, now, offset }) => {
    const machine = new Machine()
    const steady = createBrokerAlignedClock({
      wall: () => machine.wall,
      monotonic: () => machine.monotonic,
      uptime: () => machine.uptime,
    })
    happens(machine, () => steady.now())
    expect(Math.abs(steady.now() - start - now)).toBeLessThanOrEqual(1)
    expect(Math.abs(steady.offset() - offset)).toBeLessThanOrEqual(1)
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
    /**
     * Writes a record whose acknowledgement takes this time. `off` is the skew of this broker
     * against the others.
     */
    const writes = (off = 0): void => {
      const sentAt = machine.monotonic
      runs(5)
      const appended = epochMs(time.broker + off)
      runs(5)
      steady.learn({ sentAt, answeredAt: machine.monotonic, appended })
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
      expect(Math.abs(steady.offset() - off)).toBeLessThanOrEqual(10)
    },
  )

  it('does not correct a skew of a fraction of a second', () => {
    const { steady, writes, error } = started(300)
    writes()
    expect(error()).toBe(300)
    expect(steady.offset()).toBe(0)
  })

  it('is restored after the machine was paused from outside', () => {
    const { machine, time, runs, writes, error } = started(0)
    for (let count = 0; count < 5; count++) writes()
    // The wall clock was corrected after the pause; no other clock shows the pause.
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
    const appended = epochMs(time.broker)
    runs(20 * second)
    steady.learn({ sentAt, answeredAt: machine.monotonic, appended })
    expect(error()).toBe(0)
  })

  it("the machine's clock has no offset after it is corrected", () => {
    const { machine, steady, runs, writes, error } = started(hour)
    writes()
    machine.wall -= hour
    runs(second)
    expect(Math.abs(error())).toBeLessThanOrEqual(10)
    expect(Math.abs(steady.offset())).toBeLessThanOrEqual(10)
  })
})

describe('boot time', () => {
  it.each<[string, (machine: Machine) => void, number]>([
    ['continues evenly', machine => machine.runs(7 * second), 7 * second],
    ['counts the time that the machine was suspended', machine => machine.isSuspended(hour), hour],
    ['never goes backwards', machine => machine.isSet(-hour), 0],
    ['counts a clock that is set forward, which is the safe side', machine => machine.isSet(hour), hour],
    ['does not count corrections of a time server', machine => machine.isSet(400), 0],
  ])('%s', (_, happens, elapsed) => {
    const machine = new Machine()
    const boottime = createBootTime({ wall: () => machine.wall, monotonic: () => machine.monotonic })
    const before = boottime()
    happens(machine)
    expect(boottime() - before).toBe(elapsed)
  })
})
