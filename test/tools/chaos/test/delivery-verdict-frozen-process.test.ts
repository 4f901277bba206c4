import { expect, it } from '@jest/globals'
import { judge } from '../delivery-verdict.ts'
import type { Delivery, Sent } from '../message-ledger.ts'

const sent = (id: string, at: number): Sent => ({ id, partition: 0, at, acknowledgedAt: at })
const by = (process: string, of: Sent, at: number): Delivery => ({
  ...{ id: of.id, destination: 'crm', process, at, answer: 200 },
  sent: of,
})
const before = sent('before', 4_900)
const meanwhile = sent('meanwhile', 6_000)

it.each([
  { name: 'explains a request that began before the freeze', record: before, at: 9_200, ownerAt: 8_900, excused: true },
  {
    name: 'explains a request that began before the freeze, although the new owner repeats it later',
    ...{ record: before, at: 9_200, ownerAt: 9_300, excused: true },
  },
  {
    name: 'does not explain a request for a newer message',
    ...{ record: meanwhile, at: 9_200, ownerAt: 8_900, excused: false },
  },
  { name: 'does not explain a later request', record: before, at: 9_300, ownerAt: 8_900, excused: false },
  {
    name: 'does not explain a later request that the new owner repeats',
    ...{ record: before, at: 9_300, ownerAt: 9_400, excused: false },
  },
])('of a frozen process: $name', ({ record, at, ownerAt, excused }) => {
  const deliveries = [by('p2', record, ownerAt), by('p1', record, at)].toSorted((a, b) => a.at - b.at)
  const { duplicates, failures } = judge({
    limits: { duplicates: 0, recoveryMs: 10_000, latestMs: 100_000 },
    patience: 1,
    destinations: ['crm'],
    acknowledged: [record],
    deliveries,
    injected: [{ what: 'SIGSTOP p1', at: 5_000, from: 5_000, recoveredAt: 9_000, healedAt: 9_000, victims: ['p1'] }],
    deadLettered: new Map(),
    waiting: new Set(),
    refused: new Set(),
    problems: [],
  })
  expect(duplicates).toBe(1)
  expect(failures.filter(each => each.startsWith('duplicated'))).toHaveLength(excused ? 0 : 1)
})
