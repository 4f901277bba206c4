import { expect, it } from '@jest/globals'
import { FlushBarrier } from '../../../../../src/adapters/kafka/producer/flush-barrier.ts'
import { turns } from '../../../../support/manual-clock.ts'

function observed(barrier: FlushBarrier) {
  const state = { isOver: false }
  void barrier.drained().then(() => {
    state.isOver = true
  })
  return state
}
it('resolves immediately when nothing is in progress', async () => {
  const wait = observed(new FlushBarrier())
  await turns()
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
  await turns()
  expect([first.isOver, second.isOver]).toEqual([false, false])
  barrier.add()
  barrier.done(a)
  await turns()
  expect([first.isOver, second.isOver]).toEqual([true, true])
})

it('a later flush resolves after the earlier ones', async () => {
  const barrier = new FlushBarrier()
  const a = barrier.add()
  const first = observed(barrier)
  const b = barrier.add()
  const second = observed(barrier)
  barrier.done(a)
  await turns()
  expect([first.isOver, second.isOver]).toEqual([true, false])
  barrier.done(b)
  await turns()
  expect(second.isOver).toBe(true)
})
