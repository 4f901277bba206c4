import { expect, it } from '@jest/globals'
import type { Call } from '../message-ledger.ts'
import { failuresOfPairs, judgeOrder, type Place } from '../order-verdict.ts'

const at = (offset: number, key = 'u', partition = 0): Place => ({ partition, offset, key, copies: 1 })
const call = (id: string, from: number, to: number | undefined = from + 10, destination = 'crm'): Call => ({
  ...{ id, destination, process: 'p1', at: from, answer: 200 },
  ...(to !== undefined && { endedAt: to }),
})
const [first, second, third] = [call('m-1', 100), call('m-2', 200), call('m-3', 300)]
const unimpaired = { injected: [], patience: 1 }
const placesOf = (...list: Place[]) => new Map(list.map((place, index) => [`m-${index + 1}`, place]))
const places = placesOf(at(1), at(2), at(3))
const retried = (id: string, minAttempts: number, maxAttempts: number) => ({
  retried: new Map([[`crm ${id}`, { minAttempts, maxAttempts }]]),
})
const overlapping = call('m-1', 100, 230)
const reversedCalls = [second, call('m-1', 250)]
/** p1 is frozen while its request is in progress, and p2 becomes the owner of the partition. */
const frozen = {
  injected: [{ what: 'SIGSTOP p1', at: 150, from: 150, recoveredAt: 400, victims: ['p1'] }],
}
const inProgress: Call = { ...first, answer: 'hang', endedAt: undefined }
const early = (later: string, earlier: string): string => `crm ${later} by p1, before ${earlier} by p1 had ended`

it.each<[string, Partial<Parameters<typeof judgeOrder>[0]>, number, readonly string[]]>([
  ['holds for messages one after the other', { calls: [first, second, third] }, 2, []],
  [
    'takes the order from the log, not from the id',
    { calls: [first, second], places: placesOf(at(9), at(2)) },
    1,
    [early('m-1', 'm-2')],
  ],
  ['fails when the later message comes first', { calls: reversedCalls }, 1, [early('m-2', 'm-1')]],
  ['fails when both are in progress', { calls: [overlapping, second] }, 1, [early('m-2', 'm-1')]],
  [
    'fails when the later one starts and the earlier one never ends',
    { calls: [{ ...first, endedAt: Number.POSITIVE_INFINITY }, second] },
    1,
    [early('m-2', 'm-1')],
  ],
  ['permits a retry of the earlier one at any time', { calls: [first, second, call('m-1', 900)] }, 1, []],
  ['excludes a message that was deferred', { calls: reversedCalls, ...retried('m-1', 0, 0) }, 0, []],
  [
    'judges the messages around a deferred one',
    { calls: [third, first, call('m-2', 250)], ...retried('m-2', 0, 1) },
    1,
    [],
  ],
  [
    'fails reversed messages around a deferred one',
    { calls: [call('m-3', 50), first], ...retried('m-2', 0, 1) },
    1,
    [early('m-3', 'm-1')],
  ],
  ['judges each user separately', { calls: reversedCalls, places: placesOf(at(1), at(2, 'v')) }, 0, []],
  [
    'judges each destination separately',
    { calls: [second, call('m-1', 250, 260, 'slow')], destinations: ['crm', 'slow'] },
    0,
    [],
  ],
  [
    'includes a message that was retried after an attempt',
    { calls: [call('m-2', 50), first, call('m-2', 900)], ...retried('m-2', 1, 1) },
    1,
    [early('m-2', 'm-1')],
  ],
  [
    'excludes a message whose first attempt did not arrive',
    { calls: [second, call('m-1', 900)], ...retried('m-1', 1, 1) },
    0,
    [],
  ],
  ['tolerates a late end of a timed-out request', { calls: [{ ...overlapping, answer: 'hang' }, second] }, 1, []],
  [
    'judges the repeat of a request that was in progress when its process was frozen',
    { calls: [inProgress, { ...second, process: 'p2', id: 'm-1' }, { ...third, process: 'p2', id: 'm-2' }], ...frozen },
    1,
    [],
  ],
  [
    'judges the repeat when the process was frozen later than the other fault of a pair began',
    {
      calls: [inProgress, { ...second, process: 'p2', id: 'm-1' }, { ...third, process: 'p2', id: 'm-2' }],
      injected: [{ ...frozen.injected[0]!, at: -400, victimsAt: 150 }],
    },
    1,
    [],
  ],
  [
    'fails when the new owner sends the later message before this repeat',
    { calls: [inProgress, { ...second, process: 'p2' }, { ...third, process: 'p2', id: 'm-1' }], ...frozen },
    1,
    ['crm m-2 by p2, before m-1 by p2 had ended'],
  ],
  [
    'fails when the frozen process never ends and nobody repeats the request',
    { calls: [inProgress, { ...second, process: 'p2' }], ...frozen },
    1,
    ['crm m-2 by p2, before m-1 by p1 had ended'],
  ],
  ['leaves out a message without a request', { calls: [first, third] }, 1, []],
])('%s', (_, evidence, pairs, reversed) => {
  const found = judgeOrder({
    ...{ places, destinations: ['crm'], calls: [], retried: new Map() },
    ...unimpaired,
    ...evidence,
  })
  expect(found).toEqual({ pairs, possible: expect.any(Number), reversed })
})

it('counts the pairs of each user and destination that were possible', () => {
  const ofTwoUsers = placesOf(at(1), at(2), at(3), at(4, 'v'), at(5, 'v'), at(6, 'w'))
  const evidence = { destinations: ['crm', 'erp'], calls: [first, second], retried: new Map(), ...unimpaired }
  expect(judgeOrder({ places: ofTwoUsers, ...evidence })).toMatchObject({ pairs: 1, possible: 6 })
})

it.each([
  [8, 10, undefined, []],
  [7, 10, undefined, ['order judged for 7 of 10 pairs, 70 %, minimum 80 %']],
  [3, 10, 0.3, []],
  [2, 10, 0.3, ['order judged for 2 of 10 pairs, 20 %, minimum 30 %']],
  [0, 0, undefined, ['no two messages of one user, so order cannot be judged']],
])('requires a share of the pairs: %d of %d with the minimum %d', (pairs, possible, share, failures) => {
  expect(failuresOfPairs({ pairs, possible }, share)).toEqual(failures)
})
