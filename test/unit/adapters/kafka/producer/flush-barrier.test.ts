import { expect, it } from '@jest/globals'
import { FlushBarrier } from '../../../../../src/adapters/kafka/producer/flush-barrier.ts'

function observed(barrier: FlushBarrier) {
  const state = { isOver: false }
  void barrier.drained().then(() => {
    state.isOver = true
  })
  return state
}
const settle = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

it('resolves immediately when nothing is in progress', async () => {
  const wait = observed(new FlushBarrier())
  await settle()
  expect(wait.isOver).toBe(true)
})

it('waits for earlier records in any order, and for no later ones', async () => {
  const barrier = new FlushBarrier()
  const [a, b] = [barrier.add(), barrier.add()]
  const first = observed(barrier)
  const c = barrier.add()
  const second = observed(barrier)
  barrier.done(c)
  barrier.done(b)
  await settle()
  expect([first.isOver, second.isOver]).toEqual([false, false])
  barrier.add()
  barrier.done(a)
  await settle()
  expect([first.isOver, second.isOver]).toEqual([true, true])
})

it('a later flush resolves after the earlier ones', async () => {
  const barrier = new FlushBarrier()
  const a = barrier.add()
  const first = observed(barrier)
  const b = barrier.add()
  const second = observed(barrier)
  barrier.done(a)
  await settle()
  expect([first.isOver, second.isOver]).toEqual([true, false])
  barrier.done(b)
  await settle()
  expect(second.isOver).toBe(true)
})
