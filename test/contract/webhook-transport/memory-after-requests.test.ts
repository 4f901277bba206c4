import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from '@jest/globals'
import { answer, answering } from '../../support/webhook/scripted-tcp-server.ts'
import { receiver } from './tested-transports-and-servers.ts'

const programIn = (file: string): string => join(import.meta.dirname, file)
const run = promisify(execFile)

// The package `got` leaves about 13,000 bytes of each request in private fields. Hookline does not
// change private fields of packages (docs/decisions/0044-private-parts-of-packages.md).
it.each([
  ['got', 20_000],
  ['undici', 1_000],
])('%s: a request leaves at most %i bytes in the old generation', async (name, most) => {
  const target = await receiver(answering(answer(200)))
  const program = programIn('retained-bytes-process.ts')
  const args = ['--expose-gc', '--no-allocation-site-pretenuring', program, name, target.url()]
  const { stdout } = await run(process.execPath, args, { timeout: 60_000 })
  expect(Number(stdout)).toBeLessThan(most)
})

it.each(['got', 'undici'])('%s: a kept connection does not hold the request that opened it', async name => {
  const target = await receiver(answering(answer(200)))
  const args = ['--expose-gc', programIn('retained-requests-process.ts'), name, target.url()]
  const { stdout } = await run(process.execPath, args, { timeout: 60_000 })
  expect(Number(stdout)).toBe(0)
})
