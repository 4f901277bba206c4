import { expect, it } from '@jest/globals'
import fc from 'fast-check'
import { AudienceModel } from '../../../support/audience/model.ts'
import { type CommandName, commandWeights } from '../../../support/audience/model-parameters.ts'

const names = Object.keys(commandWeights) as CommandName[]
const command = fc.tuple(
  fc.oneof(...names.map(name => ({ weight: commandWeights[name], arbitrary: fc.constant(name) }))),
  fc.nat(0xffff),
  fc.nat(0xffff),
)

const kind = fc.record({ users: fc.integer({ min: 1, max: 4 }), isCalm: fc.boolean() })

it('after any failures each destination has the expected value, and no message was unneeded or reused an id', () => {
  fc.assert(
    fc.property(kind, fc.array(command, { minLength: 200, maxLength: 320, size: 'max' }), (kindOfModel, commands) => {
      const model = new AudienceModel(kindOfModel)
      for (const [name, a, b] of commands) model.do(name, a, b)

      model.settle()
      expect(model.wrong({ beforeSync: true })).toEqual([])

      // A change without a result counts as undelivered after 7 days, so the next sync sends it
      // again.
      model.pass(8 * 24 * 3_600_000)
      model.syncAll()
      expect(model.wrong()).toEqual([])

      const { changes } = model
      model.syncAll()
      expect(model.changes - changes).toBe(0)

      // After 7 days, Hookline expects neither late inputs nor late deliveries of unconfirmed
      // changes, so a sync now deletes all memberships that are not needed.
      model.pass(8 * 24 * 3_600_000)
      model.syncAll()
      model.syncAll()
      expect(model.keptMembers).toEqual(model.presentMembers)
      expect(model.changes - changes).toBe(0)
    }),
    { numRuns: 5_000 },
  )
})
