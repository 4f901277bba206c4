import { describe, expect, it } from '@jest/globals'
import { createSteadyTime } from '../../../src/adapters/steady-time.ts'

const start = Date.parse('2026-03-01T00:00:00.000Z')
const second = 1_000
const hour = 3_600_000

/** What happens to a machine, and what its clocks say then. */
class Machine {
  wall = start
  monotonic = 5_000.5
  uptime = 90_000

  runs(ms: number, rate = 1): void {
    this.wall += Math.round(ms * rate)
    this.monotonic += ms
    this.uptime += ms
  }

  isSuspended(ms: number): void {
    this.wall += ms
    this.uptime += ms
  }
}

interface Case {
  readonly name: string
  readonly happens: (machine: Machine, look: () => void) => void
  /** Since the start. */
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
    name: 'an hour ahead, looked at often, and right again',
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
    name: 'half a second, as a time server corrects',
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
    name: 'a clock that is made faster, looked at after hours',
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
    name: 'set, then suspended: what it is off is off by as much as before',
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

describe('steady time', () => {
  it.each(cases)('$name', ({ happens, now, offset }) => {
    const machine = new Machine()
    const steady = createSteadyTime({
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
