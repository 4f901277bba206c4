import { expect, it } from '@jest/globals'
import { InputScheduler } from '../../../../src/core/audience/input-scheduler.ts'

interface Input {
  readonly name: string
  readonly user: string | undefined
  mustRunAlone(): boolean
}

it('checks whether an input must run alone only after all earlier ones ran, because they can change that', () => {
  let asked = 0
  let hasBegun = false
  const beginning = (name: string): Input => ({
    name,
    user: name,
    mustRunAlone: () => {
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
