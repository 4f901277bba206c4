import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from '@jest/globals'
import { answer, answering } from '../../support/webhook/scripted-tcp-server.ts'
import { receiver } from './adapters.ts'

const program = join(import.meta.dirname, 'collecting-process.ts')

// The numbers are the maximum bytes that a request may leave. Streams of got leave about 13,000
// bytes, because Hookline does not change their private fields
// (docs/decisions/0044-private-parts-of-packages.md).
it.each([
  ['got', 20_000],
  ['undici', 1_000],
])('%s: a request leaves at most %i bytes in the old generation', async (name, most) => {
  const target = await receiver(answering(answer(200)))
  const args = ['--expose-gc', '--no-allocation-site-pretenuring', program, name, target.url()]
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 60_000 })
  expect(Number(stdout)).toBeLessThan(most)
})
