import { expect, it } from '@jest/globals'
import { fullText, type PublishedRow, summary } from '../publication.ts'

const row: PublishedRow = {
  ...{ name: 'kill', shows: 'SIGKILL of a pod', sent: 100, delivered: 100, lost: 0 },
  duplicates: { inProgress: 3, ours: 0 },
  ...{ refused: 0, restarts: 1, p50Ms: 20, p99Ms: 90, latestMs: 6_200, pauseMs: 6_000, failures: [] },
  measured: ['ready again 2.0 s later'],
  ...{ patience: 1, date: '2026-01-02', commit: 'abcd1234', machine: '2 × CPU', node: 'Node v24' },
  versions: 'Kubernetes v1.34.2, Kafka 4.4.0',
}

it('says in one line what happened', () => {
  expect(summary(row)).toBe(
    'kill holds: 100 deliveries, 0 lost, 0 duplicates, 3 repeated that a pod could not commit, 0 requests refused, 1 restarts, longest pause 6.0 s, slowest delivery 6.2 s; ready again 2.0 s later',
  )
})

it('publishes the failures next to the figures', () => {
  const text = fullText([row, { ...row, name: 'drain', failures: ['lost: 1 (crm m-1)'], measured: [] }], [])
  expect(text).toContain('| `kill` | SIGKILL of a pod | 100 | 0 | 0 | 3 | 0 | 1 | 6.0 | 6.2 | holds |')
  expect(text).toContain(
    'Failures:\n\n- `drain`: lost: 1 (crm m-1)\n\nAdditional figures:\n\n- `kill`: ready again 2.0 s later',
  )
})

it('publishes the versions with which each scenario ran', () => {
  const { versions, ...earlier } = row
  expect(fullText([row, { ...row, name: 'drain' }, { ...earlier, name: 'install' }], [])).toMatch(
    /\n\nVersions:\n\n- `kill`, `drain`: Kubernetes v1.34.2, Kafka 4.4.0\n- `install`: not recorded$/,
  )
})

it('lists the scenarios without a result', () => {
  const scale = { name: 'scale', shows: '`kubectl scale` of each service' }
  expect(fullText([row], [row, scale])).toMatch(
    /\n\nWithout a published result:\n\n- `scale`: `kubectl scale` of each service$/,
  )
})
