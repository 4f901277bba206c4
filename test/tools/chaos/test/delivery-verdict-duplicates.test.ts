import { it } from '@jest/globals'
import type { Delivery } from '../message-ledger.ts'
import { a, b, by, type Case, expectVerdict, kill, nothingWrong, sent } from './evidence.ts'

const ofVictims = { duplicates: 0, recoveryMs: 10_000, latestMs: 100_000 }
const copied = (id: string, copies: number) => [id, { partition: 0, offset: 0, key: 'u', copies }] as const
const order = {
  places: new Map([copied('a', 2), copied('b', 1)]),
  calls: [by('p1', a, 1_100), by('p1', b, 1_200)].map(call => ({ ...call, endedAt: call.at })),
  retried: new Map(),
}

const written = (at: number) => new Map([['crm a', { minAttempts: 0, maxAttempts: 0, writtenAt: [at] }]])

const many = Array.from({ length: 301 }, (_, index) => sent(`m${index}`))
const late = sent('late', 0, 6_000)

const killed = (...deliveries: readonly Delivery[]) => ({ limits: ofVictims, injected: [kill], deliveries })

const cases: readonly Case[] = [
  {
    name: 'fails a duplicate without a cause',
    evidence: { deliveries: [...nothingWrong.deliveries, by('p2', a, 1_300)] },
    figures: { duplicates: 1 },
    failures: [/^duplicated without a known cause, limit 0: 1 \(crm a by p1, 200 ms later by p2\)$/],
  },
  {
    name: 'permits as many unexplained duplicates as the limit',
    evidence: {
      limits: { ...ofVictims, duplicates: 2 },
      deliveries: [...nothingWrong.deliveries, by('p2', a, 1_300), by('p3', a, 1_400)],
    },
    figures: { duplicates: 2, duplicated: { bySender: 0, inProgress: 0, ours: 2 } },
  },
  {
    name: 'fails more unexplained duplicates than the limit, and names all',
    evidence: {
      limits: { ...ofVictims, duplicates: 1 },
      deliveries: [...nothingWrong.deliveries, by('p2', a, 1_300), by('p3', b, 1_400)],
    },
    failures: [/^duplicated without a known cause, limit 1: 2 \(crm a by p1, 200 ms later by p2; crm b/],
  },
  {
    name: 'explains one duplicate per copy of the sender',
    evidence: {
      order,
      limits: { ...ofVictims, bySender: 1 },
      deliveries: [...nothingWrong.deliveries, by('p2', a, 1_300), by('p2', a, 1_400)],
    },
    figures: { duplicates: 2, duplicated: { bySender: 1, inProgress: 0, ours: 1 } },
    failures: [/crm a by p2, 100 ms later by p2/],
  },
  {
    name: 'fails copies of an undisturbed sender',
    evidence: { order, deliveries: [...nothingWrong.deliveries, by('p2', a, 1_300)] },
    figures: { duplicated: { bySender: 1, inProgress: 0, ours: 0 } },
    failures: [/^duplicated because the sender wrote the message again: 1, limit 0$/],
  },
  {
    name: 'limits the duplicates per victim',
    evidence: {
      ...killed(...many.map(each => by('p1', each, 4_900)), ...many.map(each => by('p2', each, 8_000))),
      acknowledged: many,
    },
    figures: { duplicated: { bySender: 0, inProgress: 301, ours: 0 } },
    failures: [/^duplicated because 1 killed or frozen processes had the delivery in progress: 301, limit 300$/],
  },
  {
    name: 'explains one duplicate by an uncommitted retry record of a victim',
    evidence: {
      ...killed(...nothingWrong.deliveries, by('p2', a, 20_000), by('p2', a, 21_000)),
      order: { ...order, places: new Map(), retried: written(4_500) },
    },
    figures: { duplicated: { bySender: 0, inProgress: 1, ours: 1 } },
    failures: [/crm a by p2 15000 ms after SIGKILL p1, 1000 ms later by p2/, /no two messages of one user/],
  },
  {
    name: 'does not explain a duplicate by a retry record when only a collector was killed',
    evidence: {
      ...killed(...nothingWrong.deliveries, by('p2', a, 20_000)),
      injected: [{ ...kill, what: 'SIGKILL c1', victims: ['c1'] }],
      order: { ...order, places: new Map(), retried: written(4_500) },
    },
    figures: { duplicated: { bySender: 0, inProgress: 0, ours: 1 } },
    failures: [/crm a by p1 3900 ms before SIGKILL c1/, /no two messages of one user/],
  },
  {
    name: 'does not explain a duplicate by an earlier retry record',
    evidence: {
      ...killed(...nothingWrong.deliveries, by('p2', a, 20_000)),
      order: { ...order, places: new Map(), retried: written(3_400) },
    },
    figures: { duplicated: { bySender: 0, inProgress: 0, ours: 1 } },
    failures: [/crm a by p1 3900 ms before SIGKILL p1/, /no two messages of one user/],
  },
  {
    name: 'fails a delivered message that is still in a retry topic',
    evidence: { limits: ofVictims, waiting: new Set(['crm a']) },
    failures: [/^delivered, but still in a retry topic: 1 \(crm a\)$/],
  },
  {
    name: 'explains one duplicate per delivery in progress at a victim',
    evidence: killed(by('p1', a, 4_900), by('p1', b, 4_900), by('p2', a, 8_000), by('p3', a, 8_200)),
    figures: { duplicated: { bySender: 0, inProgress: 1, ours: 1 } },
    failures: [/crm a by p2 3000 ms after SIGKILL p1, 200 ms later by p3/],
  },
  {
    name: 'explains duplicates of the last 1.5 s of a victim',
    evidence: killed(by('p1', a, 3_600), by('p1', b, 5_100), by('p2', a, 8_000), by('p2', b, 8_100)),
    figures: { duplicates: 2, recoveryMs: 4_000 },
  },
  {
    name: 'explains duplicates of several victims of one fault',
    evidence: {
      ...killed(by('p1', a, 4_900), by('p3', b, 4_900), by('p2', a, 8_000), by('p2', b, 8_100)),
      injected: [{ ...kill, victims: ['p1', 'p3'] }],
    },
    figures: { duplicates: 2 },
  },
  {
    name: 'does not explain duplicates of earlier deliveries of a victim',
    evidence: killed(by('p1', a, 3_400), by('p1', b, 4_900), by('p2', a, 8_000)),
    failures: [/^duplicated without a known cause, limit 0: 1 \(crm a by p1/],
  },
  {
    name: 'extends the last 1.5 s on a busy machine',
    evidence: {
      ...killed(by('p1', a, 3_000), by('p1', b, 5_500), by('p2', a, 8_000), by('p2', b, 8_000)),
      patience: 2,
    },
    figures: { duplicates: 2 },
  },
  {
    name: 'explains a request that a busy endpoint reads after the death of the victim',
    evidence: killed(by('p1', a, 4_900), by('p1', b, 7_000), by('p2', b, 8_000)),
    figures: { duplicates: 1 },
  },
  {
    name: 'does not explain a message sent after the death of the victim',
    evidence: { ...killed(by('p1', a, 4_900), by('p1', late, 7_000), by('p2', late, 8_000)), acknowledged: [a, late] },
    failures: [/crm late by p1 2000 ms after SIGKILL p1, 1000 ms later by p2/],
  },
  {
    name: 'does not explain deliveries of a thawed process',
    evidence: {
      ...killed(by('p1', a, 4_900), by('p1', b, 7_500), by('p2', b, 8_000)),
      injected: [{ ...kill, healedAt: 7_000 }],
    },
    failures: [/crm b by p1 2500 ms after SIGKILL p1, 500 ms later by p2/],
  },
  {
    name: 'does not explain deliveries of another process',
    evidence: killed(by('p3', a, 4_900), by('p1', b, 4_900), by('p2', a, 8_000)),
    failures: [/crm a by p3 100 ms before SIGKILL p1, 3100 ms later by p2/],
  },
  {
    name: 'does not explain a thawed process that repeats its successor',
    evidence: killed(by('p1', b, 4_900), by('p2', a, 8_000), by('p1', a, 12_000)),
    failures: [/crm a by p2 3000 ms after SIGKILL p1, 4000 ms later by p1/],
  },
]

it.each(cases)('$name', expectVerdict)
