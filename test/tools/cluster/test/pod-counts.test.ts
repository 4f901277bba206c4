import { expect, it } from '@jest/globals'
import type { Pod } from '../list-pods-and-find-process.ts'
import { followPods } from '../pod-counts.ts'

const pod = (service: string, isReady: boolean): Pod => ({
  ...{ name: 'a', service, isReady, restarts: 0 },
  lastEnd: undefined,
})

it('counts the ready pods of one service, and lists each change', async () => {
  const lists = [
    [pod('dispatcher', true), pod('dispatcher', false), pod('collector', true)],
    [pod('dispatcher', true), pod('dispatcher', true), pod('collector', true)],
  ]
  const counts = followPods({ pods: async () => lists.shift() ?? [] }, 'dispatcher')
  await counts.reach(1)
  await counts.reach(2)
  expect(counts.text()).toMatch(/^1 after \d+\.\d s, 2 after \d+\.\d s$/)
})
