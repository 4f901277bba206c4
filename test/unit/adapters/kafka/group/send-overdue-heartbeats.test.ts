import { expect, it } from '@jest/globals'
import { settle, setUp } from './single-member-group.ts'

/** A member that has fetched once. `beats` has the times of its heartbeats after that, in ms. */
async function fetching() {
  const context = setUp()
  const { clock, state, join, member, it: group } = context
  await join()
  await member.heartbeat(group)
  const start = clock.boottime()
  const beats: number[] = []
  state.beat = async () => void beats.push(clock.boottime() - start)
  return { ...context, beats }
}

it('while all fetches wait, the member sends heartbeats and keeps its lease, but not for more than 30 s', async () => {
  const { member, clock, beats } = await fetching()
  await clock.advance(20_000, settle)
  expect(member.holdsLease).toBe(true)
  expect(beats.slice(0, 3)).toEqual([1_500, 3_000, 4_500])
  await clock.advance(20_000, settle)
  expect(member.holdsLease).toBe(false)
  expect(Math.max(...beats)).toBeLessThan(30_000)
})

it('a member that fetches sends no further heartbeats, and none after its end or without partitions', async () => {
  const { member, clock, beats, it: group } = await fetching()
  for (let count = 0; count < 10; count++) {
    await clock.advance(500, settle)
    await member.heartbeat(group)
  }
  expect(beats).toHaveLength(10)
  member.forget()
  await clock.advance(5_000, settle)
  expect(beats).toHaveLength(10)
  member.end()
  await member.heartbeat(group).catch(() => undefined)
  const sent = beats.length
  await clock.advance(5_000, settle)
  expect(beats).toHaveLength(sent)
})
