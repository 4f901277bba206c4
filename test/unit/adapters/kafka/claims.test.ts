import { describe, expect, it } from '@jest/globals'
import { settle, setUp } from './one-member.ts'

describe('what it claims when it joins', () => {
  const claimed = ({ member }: ReturnType<typeof setUp>): [number, number[]] => {
    const { generation, owned } = member.claim()
    return [generation, owned.map(({ partition }) => partition)]
  }

  it('nothing at first; then what it has, also after a join that did not come to its end', async () => {
    const it = setUp()
    const claims: [number, number[]][] = []
    await it.join(async () => void claims.push(claimed(it)))
    await it.join(async () => {
      claims.push(claimed(it))
      it.group.generationId = 2
      claims.push(claimed(it))
      it.group.generationId = 3
    })
    expect(claims).toEqual([
      [-1, []],
      [1, [0]],
      [2, [0]],
    ])
    expect(it.events.filter(event => event.startsWith('revoked'))).toEqual([])
  })

  it.each([
    { name: 'others have been through a join without it', change: { generationId: 3 } },
    { name: 'the group knows it no more', change: { memberId: null } },
  ])('nothing, and drops it first, when $name', async ({ change }) => {
    const it = setUp()
    await it.join()
    it.events.length = 0
    await it.join(async () => {
      Object.assign(it.group, change)
      expect(claimed(it)).toEqual([-1, []])
      it.events.push('JoinGroup')
    })
    expect(it.events.slice(0, 3)).toEqual(['flush', 'revoked 0', 'JoinGroup'])
  })
})

it('is confirmed by heartbeats, and sends none while it joins', async () => {
  const { member, it, join, clock } = setUp()
  await join()
  await settle()
  expect(member.isConfirmed).toBe(true)
  await clock.advance(5_000, settle)
  expect(member.isConfirmed).toBe(false)
  await join(async () => {
    await member.heartbeat(it)
    expect(member.isConfirmed).toBe(false)
  })
  await member.heartbeat(it)
  expect(member.isConfirmed).toBe(true)
})
