import { expect, it } from '@jest/globals'
import fc from 'fast-check'
import { type CommandName, commandWeights } from '../../../support/audience-cases.ts'
import { AudienceWorld } from '../../../support/audience-world.ts'

const names = Object.keys(commandWeights) as CommandName[]
const command = fc.tuple(
  fc.oneof(...names.map(name => ({ weight: commandWeights[name], arbitrary: fc.constant(name) }))),
  fc.nat(0xffff),
  fc.nat(0xffff),
)

const kind = fc.record({ users: fc.integer({ min: 1, max: 4 }), isCalm: fc.boolean() })

it('whatever fails, each destination ends with the truth, nothing is sent without a cause, no id stands for two changes', () => {
  fc.assert(
    fc.property(kind, fc.array(command, { minLength: 200, maxLength: 320, size: 'max' }), (kindOfWorld, commands) => {
      const world = new AudienceWorld(kindOfWorld)
      for (const [name, a, b] of commands) world.do(name, a, b)

      world.settle()
      expect(world.wrong({ beforeSync: true })).toEqual([])

      // What nobody knows any more, the next sync sends.
      world.pass(6 * 3_600_000)
      world.syncAll()
      expect(world.wrong()).toEqual([])

      const { changes } = world
      world.syncAll()
      expect(world.changes - changes).toBe(0)

      // Nobody is kept of whom there is nothing to know.
      world.pass(8 * 24 * 3_600_000)
      world.syncAll()
      world.syncAll()
      expect(world.keptMembers).toEqual(world.presentMembers)
      expect(world.changes - changes).toBe(0)
    }),
    { numRuns: 5_000 },
  )
})
