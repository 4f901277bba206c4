import { EventEmitter } from 'node:events'
import { beforeEach, describe, expect, it } from '@jest/globals'
import { handleStopSignals } from '../../../src/app/stop-signal.ts'

class FakeProcess extends EventEmitter {
  readonly codes: number[] = []

  exit(code: number): void {
    this.codes.push(code)
  }

  receive(name: 'SIGINT' | 'SIGTERM'): void {
    this.emit(name, name)
  }
}

let target: FakeProcess
let stopSignal: () => AbortSignal
beforeEach(() => {
  target = new FakeProcess()
  stopSignal = handleStopSignals(target)
})

describe.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('%s', (name, code) => {
  it('ends the process while no command waits for it', () => {
    target.receive(name)
    expect(target.codes).toEqual([code])
  })

  it('aborts the signal of the command, and does not end the process', () => {
    const signal = stopSignal()
    target.receive(name)
    expect({ aborted: signal.aborted, codes: target.codes }).toEqual({ aborted: true, codes: [] })
  })

  it('ends the process if it is the second signal', () => {
    stopSignal()
    target.receive('SIGTERM')
    target.receive(name)
    expect(target.codes).toEqual([code])
  })
})
