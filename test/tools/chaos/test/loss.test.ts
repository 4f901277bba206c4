import { describe, expect, it } from '@jest/globals'
import { disagreement, judgeLoss, type LossEvidence } from '../loss.ts'

const told = (partition: number, from: number, to: number) => ({ process: 'p1', partition, from, to })

interface Case extends LossEvidence {
  readonly name: string
  readonly failures: readonly RegExp[]
}

const cases: readonly Case[] = [
  {
    name: 'each record that is gone is told of',
    ...{ lost: new Map([[0, ['a', 'b']]]), told: [told(0, 10, 12)], failures: [] },
  },
  {
    name: 'in several lines',
    ...{ lost: new Map([[0, ['a', 'b']]]), told: [told(0, 10, 11), told(0, 20, 21)], failures: [] },
  },
  {
    name: 'one in silence',
    ...{ lost: new Map([[3, ['a', 'b']]]), told: [told(3, 10, 11)] },
    failures: [/^partition 3: 2 \(a; b\) gone, the log tells of 1$/],
  },
  {
    name: 'sums that fit, of other partitions',
    lost: new Map([
      [0, ['a']],
      [1, ['b']],
    ]),
    told: [told(0, 10, 12)],
    failures: [/^partition 0: 1 \(a\) gone, the log tells of 2$/, /^partition 1: 1 \(b\) gone, the log tells of 0$/],
  },
  {
    name: 'more than is gone',
    ...{ lost: new Map([[0, ['a']]]), told: [told(0, 10, 11), told(1, 5, 6)] },
    failures: [/^partition 1: none gone, the log tells of 1$/],
  },
  { name: 'nothing', ...{ lost: new Map(), told: [], failures: [/^nothing was lost: the fault did nothing$/] } },
]

describe('the verdict on loss by retention', () => {
  it.each(cases)('$name', ({ failures, ...evidence }) => {
    const examined = judgeLoss(evidence)
    expect(examined.measured).toHaveLength(1)
    expect(examined.failures).toEqual(failures.map(each => expect.stringMatching(each)))
  })

  it.each([
    { name: 'the same', counted: 3, failures: [] },
    { name: 'less', counted: 2, failures: ['the log tells of 3 records that are gone, the metric of 2'] },
  ])('the metric counts $name', ({ counted, failures }) => {
    expect(disagreement([told(0, 10, 12), told(4, 7, 8)], counted)).toEqual(failures)
  })
})
