import { expect, it } from '@jest/globals'
import fc from 'fast-check'
import { policiesWithinLimits } from '../../../../src/core/settings/check-policies.ts'
import { refuseSchedule } from '../../../../src/core/settings/check-schedule-and-listeners.ts'
import { effectivePolicy } from '../../../../src/core/settings/effective-policy.ts'
import { delivery } from '../../../../src/core/settings/schema-of-configuration.ts'
import { policy } from '../../../../src/core/settings/schema-of-destination-policy.ts'

const seconds = (max: number): fc.Arbitrary<string> => fc.nat(max).map(count => `${count}s`)
const rules = {
  timeout: seconds(7),
  schedule: fc
    .array(fc.nat(3_000), { maxLength: 5 })
    .map(waits => waits.sort((a, b) => a - b).map(count => `${count}s`)),
  window: seconds(18_000),
}

it('a policy without a problem exceeds no limit, and its retries fit into its window', () => {
  const seen = new Set<string>()
  fc.assert(
    fc.property(fc.record(rules, { requiredKeys: [] }), fc.record(rules, { requiredKeys: [] }), (globally, own) => {
      const global = delivery.parse(globally)
      const config = { delivery: globally, destinations: [{ id: 'crm', policy: own }] }
      const problems = policiesWithinLimits(config, new Map())
      if (refuseSchedule(global) !== undefined) {
        expect(problems).toEqual([])
        return
      }
      for (const { path, message, hint } of problems) {
        expect(path.slice(0, 3)).toEqual(['destinations', 0, 'policy'])
        expect(own).toHaveProperty(String(path[3]))
        expect([message, hint]).toEqual([expect.stringMatching(/./), expect.stringMatching(/./)])
        seen.add(String(path[3]))
      }
      if (problems.length > 0) return
      seen.add('accepted')
      const given = policy.parse(own)
      const effective = effectivePolicy(given, global)
      expect({ ...global, ...effective }).toEqual({ ...global, ...given })
      expect(refuseSchedule(effective)).toBeUndefined()
      expect(effective.timeout).toBeLessThanOrEqual(global.timeout)
      expect(effective.window).toBeLessThanOrEqual(global.window)
    }),
    { numRuns: 2_000 },
  )
  expect([...seen].sort()).toEqual(['accepted', 'schedule', 'timeout', 'window'])
})
