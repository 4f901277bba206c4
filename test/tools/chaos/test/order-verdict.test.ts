import { expect, it } from '@jest/globals'
import type { Call } from '../ledger.ts'
import { judgeOrder, type Place } from '../order-verdict.ts'

const at = (offset: number, key = 'u', partition = 0): Place => ({ partition, offset, key, copies: 1 })
const call = (id: string, from: number, to: number | undefined = from + 10, destination = 'crm'): Call => ({
  ...{ id, destination, process: 'p1', at: from, answer: 200 },
  ...(to !== undefined && { endedAt: to }),
})
const [first, second, third] = [call('m-1', 100), call('m-2', 200), call('m-3', 300)]
const places = new Map([
  ['m-1', at(1)],
  ['m-2', at(2)],
  ['m-3', at(3)],
])

it.each<[string, Partial<Parameters<typeof judgeOrder>[0]>, number, readonly RegExp[]]>([
  ['holds for messages one after the other', { calls: [first, second, third] }, 2, []],
  [
    'takes the order from the log, not from the id',
    {
      calls: [first, second],
      places: new Map([
        ['m-1', at(9)],
        ['m-2', at(2)],
      ]),
    },
    1,
    [/^crm m-1 by p1, before m-2/],
  ],
  [
    'fails when the later message comes first',
    { calls: [second, call('m-1', 250)] },
    1,
    [/^crm m-2 by p1, before m-1 by p1 had ended$/],
  ],
  [
    'fails when the later one starts while the earlier one is in progress',
    { calls: [call('m-1', 100, 230), second] },
    1,
    [/^crm m-2/],
  ],
  [
    'fails when the later one starts and the earlier one never ends',
    { calls: [{ ...first, endedAt: Number.POSITIVE_INFINITY }, second] },
    1,
    [/^crm m-2/],
  ],
  ['permits a retry of the earlier one at any time', { calls: [first, second, call('m-1', 900)] }, 1, []],
  [
    'excludes a message that was deferred',
    { calls: [second, call('m-1', 250)], retried: new Map([['crm m-1', { minAttempts: 0, maxAttempts: 0 }]]) },
    0,
    [],
  ],
  [
    'judges the messages around a deferred one',
    { calls: [third, first, call('m-2', 250)], retried: new Map([['crm m-2', { minAttempts: 0, maxAttempts: 1 }]]) },
    1,
    [],
  ],
  [
    'fails reversed messages around a deferred one',
    { calls: [call('m-3', 50), first], retried: new Map([['crm m-2', { minAttempts: 0, maxAttempts: 1 }]]) },
    1,
    [/^crm m-3/],
  ],
  [
    'judges each user separately',
    {
      calls: [second, call('m-1', 250)],
      places: new Map([
        ['m-1', at(1)],
        ['m-2', at(2, 'v')],
      ]),
    },
    0,
    [],
  ],
  [
    'judges each destination separately',
    { calls: [second, call('m-1', 250, 260, 'slow')], destinations: ['crm', 'slow'] },
    0,
    [],
  ],
  [
    'includes a message that was retried after an attempt',
    {
      calls: [call('m-2', 50), first, call('m-2', 900)],
      retried: new Map([['crm m-2', { minAttempts: 1, maxAttempts: 1 }]]),
    },
    1,
    [/^crm m-2 by p1, before m-1 by p1 had ended$/],
  ],
  [
    'excludes a message whose first attempt did not arrive',
    { calls: [second, call('m-1', 900)], retried: new Map([['crm m-1', { minAttempts: 1, maxAttempts: 1 }]]) },
    0,
    [],
  ],
  [
    'tolerates a late end of a timed-out request',
    { calls: [{ ...call('m-1', 100, 230), answer: 'hang' }, second] },
    1,
    [],
  ],
  [
    'tolerates no overlap with a normal response',
    { calls: [{ ...call('m-1', 100, 230), answer: 503 }, second] },
    1,
    [/^crm m-2/],
  ],
  ['leaves out a message without a request', { calls: [first, third] }, 1, []],
])('%s', (_, evidence, pairs, reversed) => {
  const found = judgeOrder({ places, destinations: ['crm'], calls: [], retried: new Map(), patience: 1, ...evidence })
  expect(found).toEqual({ pairs, reversed: reversed.map(each => expect.stringMatching(each)) })
})
