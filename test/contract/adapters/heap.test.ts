import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from '@jest/globals'

const program = join(import.meta.dirname, 'garbage-process.ts')
const asStarted = '--heap-growing-percent=100'

/** How often V8 collects the whole heap of a process. */
async function collections(flags: readonly string[], ...percent: readonly string[]): Promise<number> {
  const { stdout } = await promisify(execFile)(process.execPath, ['--trace-gc', ...flags, program, ...percent])
  return stdout.split('Mark-Compact').length - 1
}

it('a process is told to whose limits are those that `hookline run` starts with', async () => {
  expect(await readFile('bin/hookline.js', 'utf8')).toContain(`'${asStarted}'`)
})

it('V8 collects the whole heap less often as soon as it is told to, in a process that runs', async () => {
  const [before, after] = await Promise.all([collections([asStarted]), collections([asStarted], '300')])
  expect(before).toBeGreaterThan(5)
  expect(after).toBeLessThan(0.75 * before)
})

it('whoever has chosen V8’s limits keeps them', async () => {
  const chosen = [asStarted, '--heap-growing-percent=50']
  const [before, after] = await Promise.all([collections(chosen), collections(chosen, '300')])
  expect(after).toBeGreaterThan(0.75 * before)
})
