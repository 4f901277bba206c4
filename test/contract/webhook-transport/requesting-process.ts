/**
 * Sends requests in its own process, because a test runner changes the environment and keeps its
 * process alive.
 */
import type { CallResult } from '../../../src/core/webhook-ports.ts'
import { transportByName } from './transport-by-name.ts'

const [, , name, ...given] = process.argv
const calls = given.map(argument => argument.split(' '))

const results = await Promise.all(
  calls.map(async ([url = '', timeoutMs]) => {
    const transport = await transportByName(name, Number(timeoutMs))
    const post = () =>
      new Promise<CallResult>(resolve =>
        transport.post({ url, headers: {}, body: Buffer.from('{}') }, result => {
          if (process.env['THROW'] !== undefined) throw new Error(process.env['THROW'])
          resolve(result)
        }),
      )
    // The second request reuses the connection of the first one, if it was kept.
    const both = [await post(), await post()]
    await transport.close()
    return both
  }),
)
process.stdout.write(JSON.stringify(results))
