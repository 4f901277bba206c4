/**
 * A process of its own, for what a test runner hides: the environment, and what keeps a process alive.
 * Arguments: the adapter, then pairs of a URL and a deadline. Makes all calls at once, closes, prints the results.
 */
import { systemClock } from '../../../src/adapters/clock.ts'
import { createGotTransport } from '../../../src/adapters/webhook/got.ts'
import { createUndiciTransport } from '../../../src/adapters/webhook/undici.ts'
import type { CallResult } from '../../../src/core/ports.ts'
import { durationMs, type JsonText } from '../../../src/core/units.ts'

const create = { got: createGotTransport, undici: createUndiciTransport }[process.argv[2] as 'got' | 'undici']
const network = { allow: ['127.0.0.0/8'], ports: undefined, ca: undefined }
const calls = process.argv.slice(3).map(argument => argument.split(' '))

const results = await Promise.all(
  calls.map(async ([url = '', timeoutMs]) => {
    const transport = create({ network: () => network, timeout: durationMs(Number(timeoutMs)), clock: systemClock })
    const post = () =>
      new Promise<CallResult>(resolve =>
        transport.post({ url, headers: {}, body: '{}' as JsonText }, result => {
          if (process.env['THROW'] !== undefined) throw new Error(process.env['THROW'])
          resolve(result)
        }),
      )
    // The second one goes over a connection that was kept, if the first one left any.
    const both = [await post(), await post()]
    await transport.close()
    return both
  }),
)
process.stdout.write(JSON.stringify(results))
