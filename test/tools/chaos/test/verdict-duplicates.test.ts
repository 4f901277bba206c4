import { it } from '@jest/globals'
import { a, b, by, type Case, expectVerdict, kill, nothingWrong, sent } from './evidence.ts'

const ofVictims = { duplicates: 0, recoveryMs: 10_000, latestMs: 100_000 }
const copied = (id: string, copies: number) => [id, { partition: 0, offset: 0, key: 'u', copies }] as const
const order = {
  places: new Map([copied('a', 2), copied('b', 1)]),
  calls: [by('p1', a, 1_100), by('p1', b, 1_200)].map(call => ({ ...call, endedAt: call.at })),
  retried: new Map(),
}

const written = (at: number) => new Map([['crm a', { fewest: 0, most: 0, writtenAt: [at] }]])

const many = Array.from({ length: 201 }, (_, index) => sent(`m${index}`))
const late = sent('late', 0, 6_000)

const cases: readonly Case[] = [
  {
    name: 'a second delivery has no excuse where none may be',
    evidence: { deliveries: [...nothingWrong.deliveries, by('p2', a, 1_300)] },
    figures: { duplicates: 1 },
    failures: [/^delivered again without a reason, limit 0: 1 \(crm a by p1, 200 ms later by p2\)$/],
  },
  {
    name: 'as many as the limit says may be ours',
    evidence: {
      limits: { ...ofVictims, duplicates: 2 },
      deliveries: [...nothingWrong.deliveries, by('p2', a, 1_300), by('p3', a, 1_400)],
    },
    figures: { duplicates: 2, duplicated: { bySender: 0, inProgress: 0, ours: 2 } },
  },
  {
    name: 'one more than the limit fails, and all are named',
    evidence: {
      limits: { ...ofVictims, duplicates: 1 },
      deliveries: [...nothingWrong.deliveries, by('p2', a, 1_300), by('p3', b, 1_400)],
    },
    failures: [/^delivered again without a reason, limit 1: 2 \(crm a by p1, 200 ms later by p2; crm b/],
  },
  {
    name: 'a copy that the sender wrote excuses one, and no second one',
    evidence: {
      order,
      limits: { ...ofVictims, bySender: 1 },
      deliveries: [...nothingWrong.deliveries, by('p2', a, 1_300), by('p2', a, 1_400)],
    },
    figures: { duplicates: 2, duplicated: { bySender: 1, inProgress: 0, ours: 1 } },
    failures: [/crm a by p2, 100 ms later by p2/],
  },
  {
    name: 'copies of a sender that nothing disturbs',
    evidence: { order, deliveries: [...nothingWrong.deliveries, by('p2', a, 1_300)] },
    figures: { duplicated: { bySender: 1, inProgress: 0, ours: 0 } },
    failures: [/^delivered again because the sender wrote it again: 1, limit 0$/],
  },
  {
    name: 'a victim that had all of its last second in progress',
    evidence: {
      limits: ofVictims,
      injected: [kill],
      acknowledged: many,
      deliveries: [...many.map(each => by('p1', each, 4_900)), ...many.map(each => by('p2', each, 8_000))],
    },
    figures: { duplicated: { bySender: 0, inProgress: 201, ours: 0 } },
    failures: [/^delivered again because 1 victims had it in progress: 201, limit 200$/],
  },
  {
    name: 'a retry record that a victim wrote and did not commit excuses one',
    evidence: {
      limits: ofVictims,
      injected: [kill],
      order: { ...order, places: new Map(), retried: written(4_500) },
      deliveries: [...nothingWrong.deliveries, by('p2', a, 20_000), by('p2', a, 21_000)],
    },
    figures: { duplicated: { bySender: 0, inProgress: 1, ours: 1 } },
    failures: [/crm a by p2 15000 ms after SIGKILL p1, 1000 ms later by p2/, /no two messages of one user/],
  },
  {
    name: 'a retry record that was written when nothing was killed excuses none',
    evidence: {
      limits: ofVictims,
      injected: [kill],
      order: { ...order, places: new Map(), retried: written(3_500) },
      deliveries: [...nothingWrong.deliveries, by('p2', a, 20_000)],
    },
    figures: { duplicated: { bySender: 0, inProgress: 0, ours: 1 } },
    failures: [/crm a by p1 3900 ms before SIGKILL p1/, /no two messages of one user/],
  },
  {
    name: 'what was delivered and waits to be delivered again',
    evidence: { limits: ofVictims, parked: new Set(['crm a']) },
    failures: [/^delivered, and in a retry topic to be delivered again: 1 \(crm a\)$/],
  },
  {
    name: 'what a victim had in progress may come once more, and not twice',
    evidence: {
      limits: ofVictims,
      injected: [kill],
      deliveries: [by('p1', a, 4_900), by('p1', b, 4_900), by('p2', a, 8_000), by('p3', a, 8_200)],
    },
    figures: { duplicated: { bySender: 0, inProgress: 1, ours: 1 } },
    failures: [/crm a by p2 3000 ms after SIGKILL p1, 200 ms later by p3/],
  },
  {
    name: 'what a victim did in its last second may come again',
    evidence: {
      limits: ofVictims,
      injected: [kill],
      deliveries: [by('p1', a, 4_100), by('p1', b, 5_100), by('p2', a, 8_000), by('p2', b, 8_100)],
    },
    figures: { duplicates: 2, recoveryMs: 4_000 },
  },
  {
    name: 'each of several victims of one strike',
    evidence: {
      limits: ofVictims,
      injected: [{ ...kill, victims: ['p1', 'p3'] }],
      deliveries: [by('p1', a, 4_900), by('p3', b, 4_900), by('p2', a, 8_000), by('p2', b, 8_100)],
    },
    figures: { duplicates: 2 },
  },
  {
    name: 'what a victim did before that may not',
    evidence: {
      limits: ofVictims,
      injected: [kill],
      deliveries: [by('p1', a, 3_900), by('p1', b, 4_900), by('p2', a, 8_000)],
    },
    failures: [/^delivered again without a reason, limit 0: 1 \(crm a by p1/],
  },
  {
    name: 'unless the machine was so busy that its commit may be older',
    evidence: {
      limits: ofVictims,
      patience: 2,
      injected: [kill],
      deliveries: [by('p1', a, 3_000), by('p1', b, 5_500), by('p2', a, 8_000), by('p2', b, 8_000)],
    },
    figures: { duplicates: 2 },
  },
  {
    name: 'what a busy endpoint reads of a victim when that is long dead may come again',
    evidence: {
      limits: ofVictims,
      injected: [kill],
      deliveries: [by('p1', a, 4_900), by('p1', b, 7_000), by('p2', b, 8_000)],
    },
    figures: { duplicates: 1 },
  },
  {
    name: 'what was sent only after its death was not under way then',
    evidence: {
      limits: ofVictims,
      injected: [kill],
      acknowledged: [a, late],
      deliveries: [by('p1', a, 4_900), by('p1', late, 7_000), by('p2', late, 8_000)],
    },
    failures: [/crm late by p1 2000 ms after SIGKILL p1, 1000 ms later by p2/],
  },
  {
    name: 'what a victim did once it was thawed may not',
    evidence: {
      limits: ofVictims,
      injected: [{ ...kill, healedAt: 7_000 }],
      deliveries: [by('p1', a, 4_900), by('p1', b, 7_500), by('p2', b, 8_000)],
    },
    failures: [/crm b by p1 2500 ms after SIGKILL p1, 500 ms later by p2/],
  },
  {
    name: 'what another process did may not',
    evidence: {
      limits: ofVictims,
      injected: [kill],
      deliveries: [by('p3', a, 4_900), by('p1', b, 4_900), by('p2', a, 8_000)],
    },
    failures: [/crm a by p3 100 ms before SIGKILL p1, 3100 ms later by p2/],
  },
  {
    name: 'a zombie may not repeat what its successor has done',
    evidence: {
      limits: ofVictims,
      injected: [kill],
      deliveries: [by('p1', b, 4_900), by('p2', a, 8_000), by('p1', a, 12_000)],
    },
    failures: [/crm a by p2 3000 ms after SIGKILL p1, 4000 ms later by p1/],
  },
]

it.each(cases)('$name', expectVerdict)
