import { describe, expect, it } from '@jest/globals'
import { type DeliveryRules, effectivePolicy } from '../../../../src/core/settings/effective-policy.ts'
import type { DestinationPolicy } from '../../../../src/core/settings/settings.ts'
import { defaultDelivery, duration, durations } from '../../../support/builders.ts'

describe('the rules for the deliveries of a destination', () => {
  it.each<[string, DestinationPolicy | undefined, Partial<DeliveryRules>]>([
    ['no policy', undefined, {}],
    ['a policy without these keys', { standardWebhooks: true }, {}],
    ['timeout', { timeout: duration('3s') }, { timeout: duration('3s') }],
    ['schedule', { schedule: durations('10s 2m') }, { schedule: durations('10s 2m') }],
    ['an empty schedule', { schedule: [] }, { schedule: [] }],
    ['window', { window: duration('2h') }, { window: duration('2h') }],
    ['ordering', { ordering: 'none' }, { ordering: 'none' }],
    // The file now has larger limits, but the process was not restarted.
    ['a timeout over the limit of the running process', { timeout: duration('6s') }, {}],
    ['a window over the limit of the running process', { window: duration('5h') }, {}],
  ])('%s', (_, own, expected) => {
    expect(effectivePolicy(own, defaultDelivery)).toEqual({ ...defaultDelivery, ...expected })
  })

  it('a destination may keep the order of keys when the others do not', () => {
    expect(effectivePolicy({ ordering: 'key' }, { ...defaultDelivery, ordering: 'none' }).ordering).toBe('key')
  })
})
