import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from '@jest/globals'
import { watchConfigFile } from '../../../../src/adapters/config-file/watch.ts'
import { closingAfterEach } from '../../../support/cleanup.ts'
import { configFolder, loadValid } from '../../../support/config/config-folder.ts'
import { ManualClock } from '../../../support/manual-clock.ts'

const closing = closingAfterEach()
const config = (source: string): string => `
kafka: { brokers: [a:9092] }
registry: { url: http://registry:8081 }
sources: [{ id: ${source}, writeKey: a-write-key-of-a-source }]
`

it.each([
  { takes: 50, pause: 1_000, why: 'the minimum' },
  { takes: 200, pause: 2_000, why: 'ten times the time of a check' },
  { takes: 600, pause: 3_000, why: 'the maximum' },
])('checks every $pause ms when a check takes $takes ms: $why', async ({ takes, pause }) => {
  const { write, check, changes, pauses } = await watched(takes)
  await check()
  await write('app')
  await check()
  expect(changes).toEqual([])
  await check()
  expect(changes).toEqual(['sources'])
  // The second check sees the change. The third check follows after 1 s, and applies the change.
  expect(pauses).toEqual([1_000, pause, 1_000, pause])
})

it('does not check more often while a bug prevents that the files are loaded', async () => {
  const env = {
    get SOURCE(): string {
      throw new Error('a bug')
    },
  }
  const { write, check, changes, pauses } = await watched(200, env)
  await write(`"\${SOURCE}"`)
  await check()
  await check()
  expect(changes).toEqual(['refused'])
  expect(pauses).toEqual([1_000, 2_000, 2_000])
})

/** Watches a configuration. Each check takes `takes` ms. */
async function watched(takes: number, env: NodeJS.ProcessEnv = {}) {
  const folder = await configFolder({ 'hookline.yaml': config('web') })
  const path = join(folder, 'hookline.yaml')
  const clock = new ManualClock()
  let time = 0
  clock.monotonic = () => (time += takes)
  const pauses: number[] = []
  const set = clock.after.bind(clock)
  clock.after = (delay, run) => {
    pauses.push(delay)
    return set(delay, run)
  }
  const changes: string[] = []
  const watch = watchConfigFile({
    ...{ path, env, clock, start: await loadValid(path, {}) },
    onChange: (_, { live }) => changes.push(...live),
    onRefused: () => changes.push('refused'),
  })
  closing({ close: async () => watch.close() })
  const check = () =>
    clock.advance(pauses.at(-1) ?? 0, async () => {
      while (clock.timers === 0) await new Promise(resolve => setImmediate(resolve))
    })
  return { check, changes, pauses, write: (source: string) => writeFile(path, config(source)) }
}
