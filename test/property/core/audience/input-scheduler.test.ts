import { expect, it } from '@jest/globals'
import fc from 'fast-check'
import { InputScheduler } from '../../../../src/core/audience/input-scheduler.ts'

interface Input {
  readonly at: number
  readonly user: string | undefined
  readonly runsAlone: boolean
  mustRunAlone(): boolean
}

const input = fc.record({
  user: fc.option(fc.constantFrom('a', 'b', 'c', 'd'), { nil: undefined, freq: 8 }),
  runsAlone: fc.oneof({ weight: 8, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
})

/**
 * Whether an input may run. An input that runs alone waits for all earlier inputs. Any other input
 * waits for earlier inputs that run alone, and for earlier inputs of its user.
 */
function mayRun(one: Input, undone: readonly Input[]): boolean {
  const before = undone.filter(({ at }) => at < one.at)
  if (one.runsAlone) return before.length === 0
  return before.every(({ runsAlone, user }) => !runsAlone && (user === undefined || user !== one.user))
}

it('starts exactly the inputs that the rule permits, in any order of arrivals and ends', () => {
  fc.assert(
    fc.property(fc.array(input, { maxLength: 40 }), fc.infiniteStream(fc.nat(99)), (inputs, choices) => {
      const all: Input[] = inputs.map((each, at) => ({ ...each, at, mustRunAlone: () => each.runsAlone }))
      const order = new InputScheduler<Input>()
      const undone: Input[] = []
      const running = new Set<Input>()
      let added = 0
      while (added < all.length || undone.length > 0) {
        const { value: choice = 0 } = choices.next() as { value?: number }
        if (added < all.length && (choice % 3 === 0 || running.size === 0)) {
          const next = all[added++] as Input
          order.add(next)
          undone.push(next)
        } else {
          const ended = [...running][choice % running.size] as Input
          running.delete(ended)
          undone.splice(undone.indexOf(ended), 1)
          order.done(ended)
        }
        for (let next = order.next(); next !== undefined; next = order.next()) {
          expect(mayRun(next, undone)).toBe(true)
          running.add(next)
        }
        for (const each of undone) expect(running.has(each) || !mayRun(each, undone)).toBe(true)
      }
    }),
    { numRuns: 1_000 },
  )
})
