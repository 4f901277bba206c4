import { expect, it } from '@jest/globals'
import type { Call } from '../ledger.ts'
import { judgeOrder, type Place } from '../order.ts'

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
  ['one after the other', { calls: [first, second, third] }, 2, []],
  [
    'the log says which comes first, and not the id',
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
  ['the later one first', { calls: [second, call('m-1', 250)] }, 1, [/^crm m-2 by p1, before m-1 by p1 had ended$/]],
  ['the later one while the earlier one is in progress', { calls: [call('m-1', 100, 230), second] }, 1, [/^crm m-2/]],
  [
    'the later one while the earlier one never ends',
    { calls: [{ ...first, endedAt: Number.POSITIVE_INFINITY }, second] },
    1,
    [/^crm m-2/],
  ],
  ['a retry of the earlier one may come at any time', { calls: [first, second, call('m-1', 900)] }, 1, []],
  [
    'one that waited in a retry topic holds nobody back',
    { calls: [second, call('m-1', 250)], retried: new Map([['crm m-1', { fewest: 0, most: 0 }]]) },
    0,
    [],
  ],
  [
    'its neighbours keep their order',
    { calls: [third, first, call('m-2', 250)], retried: new Map([['crm m-2', { fewest: 0, most: 1 }]]) },
    1,
    [],
  ],
  [
    'its neighbours change places',
    { calls: [call('m-3', 50), first], retried: new Map([['crm m-2', { fewest: 0, most: 1 }]]) },
    1,
    [/^crm m-3/],
  ],
  [
    'another user',
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
  ['another destination', { calls: [second, call('m-1', 250, 260, 'slow')], destinations: ['crm', 'slow'] }, 0, []],
  [
    'one that was retried after an attempt began that in its turn',
    {
      calls: [call('m-2', 50), first, call('m-2', 900)],
      retried: new Map([['crm m-2', { fewest: 1, most: 1 }]]),
    },
    1,
    [/^crm m-2 by p1, before m-1 by p1 had ended$/],
  ],
  [
    'one whose first attempt nobody saw holds nobody back',
    { calls: [second, call('m-1', 900)], retried: new Map([['crm m-1', { fewest: 1, most: 1 }]]) },
    0,
    [],
  ],
  [
    'the end of a call that was given up is seen a moment late',
    { calls: [{ ...call('m-1', 100, 230), answer: 'hang' }, second] },
    1,
    [],
  ],
  [
    'and of one that was answered at once',
    { calls: [{ ...call('m-1', 100, 230), answer: 503 }, second] },
    1,
    [/^crm m-2/],
  ],
  ['a message that was never called is left out', { calls: [first, third] }, 1, []],
])('%s', (_, evidence, pairs, reversed) => {
  const found = judgeOrder({ places, destinations: ['crm'], calls: [], retried: new Map(), patience: 1, ...evidence })
  expect(found).toEqual({ pairs, reversed: reversed.map(each => expect.stringMatching(each)) })
})
