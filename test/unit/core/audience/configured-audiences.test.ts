import { expect, it } from '@jest/globals'
import { audienceDirectory } from '../../../../src/core/audience/configured-audiences.ts'
import type { Settings } from '../../../../src/core/settings/settings.ts'
import { destinationOf } from '../../../support/builders.ts'

const destinations = [
  destinationOf({ id: 'crm' }),
  destinationOf({ id: 'erp', enabled: false }),
  destinationOf({ id: 'ads', paused: true }),
]
const directoryOf = (name: string, given: Pick<Settings, 'excluded'> = {}) =>
  audienceDirectory({
    ...given,
    destinations,
    audiences: { emitPerSecond: 1, list: [{ name, kind: 'trait', destinations: ['ads', 'erp', 'crm'] }] },
  })

it('an audience has its property, its absent value, and its enabled and disabled destinations', () => {
  expect([...directoryOf('Order count').values()]).toEqual([
    {
      name: 'Order count',
      kind: 'trait',
      property: 'order_count',
      absent: 'null',
      destinations: new Set(['ads', 'crm']),
      disabled: new Set(['erp']),
      configured: new Set(['crm', 'erp', 'ads']),
    },
  ])
})

it.each([
  ['are known while all excluded files have ids', 0, new Set(['crm', 'erp', 'ads'])],
  ['are unknown while a file without a readable id is excluded', 1, undefined],
])('the configured destinations %s', (_, unnamed, configured) => {
  const excluded = { files: 1, unnamed }
  expect(directoryOf('Order count', { excluded }).get('Order count')?.configured).toEqual(configured)
})

it('throws for a name that the configuration rejects', () => {
  expect(() => directoryOf('!!!')).toThrow('the audience name "!!!" has no letter or digit')
})
