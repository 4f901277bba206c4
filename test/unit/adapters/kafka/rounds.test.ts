import { expect, it } from '@jest/globals'
import { Rounds } from '../../../../src/adapters/kafka/rounds.ts'

function observed(rounds: Rounds) {
  const state = { isOver: false }
  void rounds.ended().then(() => {
    state.isOver = true
  })
  return state
}
const settle = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

it('ends at once when nothing is under way', async () => {
  const wait = observed(new Rounds())
  await settle()
  expect(wait.isOver).toBe(true)
})

it('waits for all that began before, in whatever order they end, and for nothing that begins later', async () => {
  const rounds = new Rounds()
  const [a, b] = [rounds.enter(), rounds.enter()]
  const first = observed(rounds)
  const c = rounds.enter()
  const second = observed(rounds)
  rounds.leave(c)
  rounds.leave(b)
  await settle()
  expect([first.isOver, second.isOver]).toEqual([false, false])
  rounds.enter()
  rounds.leave(a)
  await settle()
  expect([first.isOver, second.isOver]).toEqual([true, true])
})

it('a later wait ends only when the earlier ones have', async () => {
  const rounds = new Rounds()
  const a = rounds.enter()
  const first = observed(rounds)
  const b = rounds.enter()
  const second = observed(rounds)
  rounds.leave(a)
  await settle()
  expect([first.isOver, second.isOver]).toEqual([true, false])
  rounds.leave(b)
  await settle()
  expect(second.isOver).toBe(true)
})
