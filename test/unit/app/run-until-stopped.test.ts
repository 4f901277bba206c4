import { once } from 'node:events'
import { describe, expect, it } from '@jest/globals'
import type { Addresses, Composition } from '../../../src/app/compose/compose.ts'
import { runUntilStopped, type StopContext } from '../../../src/app/run-until-stopped.ts'
import { RecordingLogger } from '../../support/telemetry/recording-logger.ts'

const addresses: Addresses = { collector: undefined, operator: undefined, ops: 'http://127.0.0.1:9464' }
const fatal = 'a fatal error stopped the process; see "fatal error" in the log'

/** Runs services whose `start` is `during`. `end` is `stopped`, or the message of the error. */
async function run(during: (context: StopContext) => Promise<Addresses>, signal = new AbortController().signal) {
  const logger = new RecordingLogger()
  const calls: string[] = []
  const end = await runUntilStopped({
    ...{ signal, logger },
    compose: context =>
      ({
        start: () => during(context),
        stop: async () => void calls.push('stop'),
      }) as Partial<Composition> as Composition,
    onComposed() {
      calls.push('watch')
      return () => calls.push('close')
    },
    onReady: () => void calls.push('ready'),
  }).then(
    () => 'stopped',
    (error: Error) => error.message,
  )
  return { end, calls, lines: logger.lines.map(({ line }) => line) }
}

async function waiting({ stopAsked }: StopContext): Promise<Addresses> {
  if (!stopAsked.aborted) await once(stopAsked, 'abort')
  throw stopAsked.reason
}

describe('a fatal error', () => {
  it('ends the wait during the start, and fails the command', async () => {
    const { end, calls } = await run(context => {
      setImmediate(() => context.onFatal(new Error('the consumer stopped')))
      return waiting(context)
    })
    expect({ end, calls }).toEqual({ end: fatal, calls: ['watch', 'close'] })
  })

  it('stops services that start in spite of it', async () => {
    const { end, calls } = await run(async ({ onFatal }) => {
      onFatal(new Error('the consumer stopped'))
      return addresses
    })
    expect({ end, calls }).toEqual({ end: fatal, calls: ['watch', 'close', 'stop'] })
  })

  it('stops running services', async () => {
    const { end, calls } = await run(async ({ onFatal }) => {
      setImmediate(() => onFatal(new Error('the consumer stopped')))
      return addresses
    })
    expect({ end, calls }).toEqual({ end: fatal, calls: ['watch', 'ready', 'close', 'stop'] })
  })
})

describe('a signal', () => {
  it('ends the wait during the start', async () => {
    const stop = new AbortController()
    setImmediate(() => stop.abort())
    expect(await run(waiting, stop.signal)).toEqual({
      ...{ end: 'stopped', calls: ['watch', 'close'] },
      lines: ['a signal stopped the process before all services were ready'],
    })
  })

  it('stops running services', async () => {
    const stop = new AbortController()
    setImmediate(() => stop.abort())
    expect(await run(async () => addresses, stop.signal)).toEqual({
      ...{ end: 'stopped', calls: ['watch', 'ready', 'close', 'stop'] },
      lines: ['the process stopped after a signal'],
    })
  })
})

it('an error of the start fails the command', async () => {
  expect(await run(() => Promise.reject(new Error('topics are missing')))).toMatchObject({
    end: 'topics are missing',
    calls: ['watch', 'close'],
  })
})
