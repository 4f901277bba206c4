import { describe, expect, it } from '@jest/globals'
import { InputScheduler } from '../../../../src/core/audience/input-scheduler.ts'

interface Input {
  readonly name: string
  readonly user: string | undefined
  isFence(): boolean
}
/**
 * `a1`: the first input of user a. `!1`: a fence. `-1`: an input without a user that is not a
 * fence.
 */
const inputOf = (name: string): Input => ({
  name,
  user: /^[a-z]/.test(name) ? name[0] : undefined,
  isFence: () => name.startsWith('!'),
})

/**
 * Adds all inputs and then runs the steps: `a1` ends that input. Returns the inputs that were
 * started after each step.
 */
function taken(inputs: string, ...steps: readonly string[]): readonly string[] {
  const order = new InputScheduler<Input>()
  const open = new Map<string, Input>()
  for (const name of inputs.split(' ')) order.add(inputOf(name))
  const take = (): string => {
    const names: string[] = []
    for (let next = order.next(); next !== undefined; next = order.next()) {
      open.set(next.name, next)
      names.push(next.name)
    }
    return names.join(' ')
  }
  const end = (name: string): string => {
    order.done(open.get(name) as Input)
    return take()
  }
  return [take(), ...steps.map(end)]
}

describe('inputs in their order', () => {
  it.each<[string, string, readonly string[], readonly string[]]>([
    ['inputs of different users run concurrently', 'a1 b1 c1', [], ['a1 b1 c1']],
    ['inputs of one user run in order', 'a1 b1 a2 a3 c1', ['a1', 'a2', 'c1', 'a3'], ['a1 b1 c1', 'a2', 'a3', '', '']],
    ['a user whose input has ended', 'a1 a2', ['a1', 'a2'], ['a1', 'a2', '']],
    ['a fence runs alone', '!1 a1 b1', ['!1'], ['!1', 'a1 b1']],
    ['a fence waits for all earlier inputs', 'a1 b1 !1 c1', ['b1', 'a1', '!1'], ['a1 b1', '', '!1', 'c1']],
    ['a fence waits also for waiting inputs', 'a1 a2 !1 b1', ['a1', 'a2', '!1'], ['a1', 'a2', '!1', 'b1']],
    ['two fences', '!1 !2 a1', ['!1', '!2'], ['!1', '!2', 'a1']],
    ['an input without a user does not wait for users', 'a1 -1 a2 -2', [], ['a1 -1 -2']],
    ['a fence waits for an input without a user', '-1 !1', ['-1'], ['-1', '!1']],
  ])('%s', (_name, inputs, steps, expected) => {
    expect(taken(inputs, ...steps)).toEqual(expected)
  })

  it('checks whether an input is a fence only after all earlier ones ran, because they can change that', () => {
    let asked = 0
    let hasBegun = false
    const beginning = (name: string): Input => ({
      name,
      user: name,
      isFence: () => {
        asked++
        return !hasBegun
      },
    })
    const order = new InputScheduler<Input>()
    for (const name of ['a', 'b', 'c']) order.add(beginning(name))
    const first = order.next() as Input
    expect([first.name, order.next(), asked]).toEqual(['a', undefined, 1])
    hasBegun = true
    order.done(first)
    expect([order.next()?.name, order.next()?.name]).toEqual(['b', 'c'])
  })
})
