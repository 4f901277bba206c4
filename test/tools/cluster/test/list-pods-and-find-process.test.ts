import { expect, it } from '@jest/globals'
import { type Pod, parsePods, restartsBetween } from '../list-pods-and-find-process.ts'

const item = (name: string, status: object, metadata: object = {}): object => ({
  metadata: { name, labels: { 'app.kubernetes.io/component': 'dispatcher' }, ...metadata },
  status,
})
const killed = {
  ready: true,
  restartCount: 2,
  lastState: { terminated: { reason: 'OOMKilled', finishedAt: '1970-01-01T00:00:02Z' } },
}

it('reads pods, without those that are being deleted', () => {
  const items = [
    item('a', { containerStatuses: [killed] }),
    item('b', {}),
    item('c', { containerStatuses: [killed] }, { deletionTimestamp: '2026-01-01T00:00:00Z' }),
  ]
  expect(parsePods(JSON.stringify({ items }))).toEqual([
    { name: 'a', service: 'dispatcher', isReady: true, restarts: 2, lastEnd: { reason: 'OOMKilled', at: 2_000 } },
    { name: 'b', service: 'dispatcher', isReady: false, restarts: 0, lastEnd: undefined },
  ])
})

it('counts the restarts between two lists, also those of new pods', () => {
  const pod = (name: string, restarts: number): Pod => ({
    ...{ name, service: 'dispatcher', isReady: true, restarts, lastEnd: undefined },
  })
  expect(restartsBetween([pod('a', 2), pod('gone', 5)], [pod('a', 3), pod('new', 1)])).toBe(2)
})
