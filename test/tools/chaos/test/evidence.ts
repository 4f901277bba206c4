import { expect } from '@jest/globals'
import { type Evidence, judge } from '../delivery-verdict.ts'
import type { Delivery, Sent } from '../message-ledger.ts'

export const sent = (id: string, partition = 0, at = 1_000): Sent => ({ id, partition, at, acknowledgedAt: at })
export const by = (process: string, of: Sent, at: number, destination = 'crm'): Delivery => ({
  id: of.id,
  destination,
  process,
  at,
  answer: 200,
  sent: of,
})
export const a = sent('a')
export const b = sent('b')
export const kill = { what: 'SIGKILL p1', at: 5_000, from: 5_000, recoveredAt: 9_000, victims: ['p1'] }
export const nothingWrong: Evidence = {
  limits: { duplicates: 0, recoveryMs: 10_000, latestMs: 100_000 },
  patience: 1,
  destinations: ['crm'],
  acknowledged: [a, b],
  deliveries: [by('p1', a, 1_100), by('p1', b, 1_200)],
  injected: [],
  deadLettered: new Map(),
  waiting: new Set(),
  refused: new Set(),
  problems: [],
}

/** `figures` may have only some of the figures, but `failures` has all failures. */
export interface Case {
  readonly name: string
  readonly evidence: Partial<Evidence>
  readonly figures?: Record<string, unknown>
  readonly failures?: readonly RegExp[]
}

export function expectVerdict({ evidence, figures = {}, failures = [] }: Case): void {
  const findings = judge({ ...nothingWrong, ...evidence })
  expect(findings).toMatchObject(figures)
  expect(findings.failures).toEqual(failures.map(each => expect.stringMatching(each)))
}
