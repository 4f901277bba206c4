import { describe, expect, it } from '@jest/globals'
import { disagreement, judgeLoss, type LossEvidence } from '../reported-loss-verdict.ts'

const told = (partition: number, from: number, to: number) => ({ process: 'p1', partition, from, to })

interface Case extends LossEvidence {
  readonly name: string
  readonly failures: readonly RegExp[]
}

const cases: readonly Case[] = [
  {
    name: 'holds when each lost record is reported',
    ...{ lost: new Map([[0, ['a', 'b']]]), reported: [told(0, 10, 12)], failures: [] },
  },
  {
    name: 'sums several log lines',
    ...{ lost: new Map([[0, ['a', 'b']]]), reported: [told(0, 10, 11), told(0, 20, 21)], failures: [] },
  },
  {
    name: 'fails a lost record that is not reported',
    ...{ lost: new Map([[3, ['a', 'b']]]), reported: [told(3, 10, 11)] },
    failures: [/^partition 3: 2 \(a; b\) lost, the log reports 1$/],
  },
  {
    name: 'compares each partition separately',
    lost: new Map([
      [0, ['a']],
      [1, ['b']],
    ]),
    reported: [told(0, 10, 12)],
    failures: [/^partition 0: 1 \(a\) lost, the log reports 2$/, /^partition 1: 1 \(b\) lost, the log reports 0$/],
  },
  {
    name: 'fails a report of more than was lost',
    ...{ lost: new Map([[0, ['a']]]), reported: [told(0, 10, 11), told(1, 5, 6)] },
    failures: [/^partition 1: none lost, the log reports 1$/],
  },
  {
    name: 'fails when nothing was lost',
    ...{ lost: new Map(), reported: [], failures: [/^nothing was lost: the fault had no effect$/] },
  },
]

describe('the verdict on loss by retention', () => {
  it.each(cases)('$name', ({ failures, ...evidence }) => {
    const examined = judgeLoss(evidence)
    expect(examined.measured).toHaveLength(1)
    expect(examined.failures).toEqual(failures.map(each => expect.stringMatching(each)))
  })

  it.each([
    { name: 'the same number', counted: 3, failures: [] },
    { name: 'a smaller number', counted: 2, failures: ['the log reports 3 lost records, the metric 2'] },
  ])('the metric counts $name', ({ counted, failures }) => {
    expect(disagreement([told(0, 10, 12), told(4, 7, 8)], counted)).toEqual(failures)
  })
})
