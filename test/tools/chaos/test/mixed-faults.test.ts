import { expect, it } from '@jest/globals'
import { pairOfHits } from '../mixed-faults.ts'
import type { Hit } from '../scenario.ts'

const hit = (at: number, victims?: readonly string[]): Hit => ({
  ...{ what: 'x', at, recovery: { keys: new Set(), from: at, keyOf: () => undefined } },
  ...(victims !== undefined && { victims }),
})

it.each<[name: string, hits: readonly Hit[], victimsAt: number | undefined]>([
  ['when its process was frozen, after the other fault began', [hit(100), hit(900, ['p1'])], 900],
  ['when its process was frozen, before the other fault began', [hit(100, ['p1']), hit(900)], 100],
  ['no time without a process', [hit(100), hit(900)], undefined],
])('a pair of faults has %s', (_, hits, victimsAt) => {
  expect(pairOfHits(['one', 'other'], hits, ['crm'])).toMatchObject({ at: 100, victimsAt })
})
