import { expect, it } from '@jest/globals'
import { audienceDirectory } from '../../../../src/core/audience/directory.ts'
import { destinationOf } from '../../../support/deliveries.ts'

const destinations = [
  destinationOf({ id: 'crm' }),
  destinationOf({ id: 'erp', enabled: false }),
  destinationOf({ id: 'ads', paused: true }),
]
const directoryOf = (name: string) =>
  audienceDirectory({
    destinations,
    audiences: { emitPerSecond: 1, list: [{ name, kind: 'trait', destinations: ['ads', 'erp', 'crm'] }] },
  })

it('an audience has its property, its absent value, and those of its destinations that are enabled', () => {
  expect([...directoryOf('Order count').values()]).toEqual([
    {
      name: 'Order count',
      kind: 'trait',
      property: 'order_count',
      absent: 'null',
      destinations: new Set(['ads', 'crm']),
    },
  ])
})

it('a name that the configuration would have refused is a bug', () => {
  expect(() => directoryOf('!!!')).toThrow('the audience "!!!" has no property')
})
