import { describe, expect, it } from '@jest/globals'
import { settle, setUp } from './single-member-group.ts'

describe('the owned partitions in the subscription', () => {
  const claimed = ({ member }: ReturnType<typeof setUp>): [number, number[]] => {
    const { generation, owned } = member.subscriptionUserData()
    return [generation, owned.map(({ partition }) => partition)]
  }

  it('are none at first, then all owned ones, also after an incomplete join', async () => {
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
    { name: 'other members have completed a join without it', change: { generationId: 3 } },
    { name: 'the group no longer knows its member id', change: { memberId: null } },
  ])('are none, and are revoked first, when $name', async ({ change }) => {
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

it('holds the lease after a heartbeat, and sends none during a join', async () => {
  const { member, it, join, clock } = setUp()
  await join()
  await settle()
  expect(member.holdsLease).toBe(true)
  await clock.advance(5_000, settle)
  expect(member.holdsLease).toBe(false)
  await join(async () => {
    await member.heartbeat(it)
    expect(member.holdsLease).toBe(false)
  })
  await member.heartbeat(it)
  expect(member.holdsLease).toBe(true)
})
