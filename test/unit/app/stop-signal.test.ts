import { EventEmitter } from 'node:events'
import { beforeEach, describe, expect, it } from '@jest/globals'
import { handleStopSignals } from '../../../src/app/stop-signal.ts'

class FakeProcess extends EventEmitter {
  readonly pid: number
  /** How the process ended: an exit code, or the name of a signal for which it has no listener. */
  readonly ends: (number | string)[] = []

  constructor(pid: number) {
    super()
    this.pid = pid
  }

  exit(code: number): void {
    this.ends.push(code)
  }

  kill(pid: number, name: string): void {
    if (pid === this.pid && this.listenerCount(name) === 0) this.ends.push(name)
  }

  receive(name: 'SIGINT' | 'SIGTERM'): void {
    this.emit(name, name)
  }
}

let target: FakeProcess
let stopSignal: () => AbortSignal

describe.each([
  ['SIGINT', 1, 130],
  ['SIGTERM', 1, 143],
  ['SIGINT', 7, 'SIGINT'],
  ['SIGTERM', 7, 'SIGTERM'],
] as const)('%s to process %i', (name, pid, end) => {
  beforeEach(() => {
    target = new FakeProcess(pid)
    stopSignal = handleStopSignals(target)
  })

  it('ends the process while no command waits for it', () => {
    target.receive(name)
    expect(target.ends).toEqual([end])
  })

  it('aborts the signal of the command, and does not end the process', () => {
    const signal = stopSignal()
    target.receive(name)
    expect({ aborted: signal.aborted, ends: target.ends }).toEqual({ aborted: true, ends: [] })
  })

  it('ends the process if it is the second signal', () => {
    stopSignal()
    target.receive('SIGTERM')
    target.receive(name)
    expect(target.ends).toEqual([end])
  })
})
