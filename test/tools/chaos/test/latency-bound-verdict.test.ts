import { describe, expect, it } from '@jest/globals'
import { judgePromptness, type PromptnessEvidence } from '../latency-bound-verdict.ts'
import type { Delivery, Sent } from '../message-ledger.ts'

const sent = (id: string, at: number, partition = 0): Sent => ({ id, partition, at, acknowledgedAt: at + 1 })
const by = (of: Sent, at: number, destination = 'crm'): Delivery => ({
  ...{ id: of.id, destination, process: 'p1', at, answer: 200, sent: of },
})
const [a, b, c] = [sent('a', 1_000), sent('b', 1_500), sent('c', 1_800)]
const whole = { what: 'one is ill', from: 1_000, to: 2_000, destinations: ['crm'] }
const prompt: PromptnessEvidence = {
  ...{ acknowledged: [a, b, c], deliveries: [by(a, 1_020), by(b, 1_530), by(c, 1_840)], watched: [whole], patience: 1 },
  limits: { withinMs: 100, share: 0.6 },
}

interface Case {
  readonly name: string
  readonly evidence: Partial<PromptnessEvidence>
  readonly measured: readonly RegExp[]
  readonly failures: readonly RegExp[]
}

const cases: readonly Case[] = [
  {
    name: 'holds when everything is within the bound',
    evidence: {},
    measured: [
      /^one is ill: 3 deliveries a second\. 50 % arrived within 30 ms, 99 % within 40 ms, and 100\.00 % within 100 ms$/,
    ],
    failures: [],
  },
  {
    name: 'fails a share below the limit',
    evidence: { deliveries: [by(a, 1_020), by(b, 1_700), by(c, 2_840)] },
    measured: [/33\.33 % within 100 ms/],
    failures: [/^one is ill: 33\.33 % of the deliveries arrived within 100 ms, minimum 60\.00 %$/],
  },
  {
    name: 'counts a missing delivery as late',
    evidence: { deliveries: [by(a, 1_020)] },
    measured: [/50 % arrived within Infinity ms/],
    failures: [/33\.33 %/],
  },
  {
    name: 'fails without any delivery',
    evidence: { watched: [{ ...whole, from: 5_000, to: 6_000 }] },
    measured: [/^one is ill: 0 deliveries/],
    failures: [/0\.00 % of the deliveries arrived within/],
  },
  {
    name: 'ignores a second delivery',
    evidence: { deliveries: [...prompt.deliveries, by(a, 9_000)] },
    measured: [/100\.00 %/],
    failures: [],
  },
  {
    name: 'judges only the period and the watched destinations',
    evidence: {
      watched: [{ ...whole, from: 1_400, destinations: ['crm', 'erp'] }],
      deliveries: [by(a, 9_000), by(b, 1_530), by(b, 9_000, 'erp'), by(c, 1_840), by(c, 1_850, 'erp')],
    },
    measured: [/75\.00 %/],
    failures: [],
  },
  {
    name: 'judges only the watched partitions',
    evidence: { acknowledged: [a, b, sent('d', 1_100, 3)], watched: [{ ...whole, partitions: new Set([0]) }] },
    measured: [/100\.00 %/],
    failures: [],
  },
  {
    name: 'extends the bound by the patience factor',
    evidence: { patience: 2, deliveries: [by(a, 1_190), by(b, 1_530), by(c, 1_840)] },
    measured: [/100\.00 % within 200 ms/],
    failures: [],
  },
  {
    name: 'fails a paused partition',
    evidence: { limits: { withinMs: 100, share: 0.5, pauseMs: 300 } },
    measured: [/longest pause of a partition was 510 ms$/],
    failures: [/^one is ill: partitions paused too long: 1 \(0 for 510 ms\)$/],
  },
  {
    name: 'judges pauses per partition',
    evidence: {
      limits: { withinMs: 100, share: 0.5, pauseMs: 800 },
      acknowledged: [a, b, sent('d', 1_100, 3)],
      deliveries: [by(a, 1_020), by(b, 1_530), by(sent('d', 1_100, 3), 1_110)],
    },
    measured: [/longest pause of a partition was 890 ms$/],
    failures: [/^one is ill: partitions paused too long: 1 \(3 for 890 ms\)$/],
  },
  {
    name: 'judges pauses only in the period',
    evidence: {
      limits: { withinMs: 100, share: 0.5, pauseMs: 600 },
      deliveries: [by(sent('earlier', 500), 1_010), by(a, 1_020), by(b, 1_530), by(c, 5_000)],
    },
    measured: [/longest pause of a partition was 510 ms$/],
    failures: [],
  },
]

describe('the verdict on delivery within the latency bound', () => {
  it.each(cases)('$name', ({ evidence, measured, failures }) => {
    const examined = judgePromptness({ ...prompt, ...evidence })
    expect(examined.measured).toEqual(measured.map(each => expect.stringMatching(each)))
    expect(examined.failures).toEqual(failures.map(each => expect.stringMatching(each)))
  })
})
