import { beforeEach, describe, expect, it } from '@jest/globals'
import { idsPerMs, syncId } from '../../../../src/core/audience/sync-id.ts'
import { changeExpiry } from '../../../../src/core/audience/unconfirmed-changes-bit-set.ts'
import type { JsonText } from '../../../../src/core/message/canonical-json-text.ts'
import { epochMs } from '../../../../src/core/time.ts'
import { audienceFigures, visitDrift } from '../../../../src/services/operator/audience-figures-and-drift.ts'
import { visitMemberships } from '../../../../src/services/operator/visit-all-memberships.ts'
import { member, OperatorHarness, topics } from '../../../support/operator/deletion-and-audience-command-harness.ts'

let harness: OperatorHarness
beforeEach(() => {
  harness = new OperatorHarness()
})

const text = (value: string): JsonText => value as JsonText
const keyOf = (userId: string, audience = 'Shoppers', destination = 'crm') => ({ audience, userId, destination })
const source = async () => ({
  reader: harness.reader(),
  topic: topics.memberships,
  codec: await harness.access().memberships(),
  clock: harness.clock,
})
const on = () => ({ now: harness.clock.now() })

async function visited(isWanted?: (audience: string) => boolean): Promise<readonly string[]> {
  const seen: string[] = []
  await visitMemberships(await source(), {
    ...(isWanted && { isWanted }),
    onMembership: ({ audience, userId, destination }, { desired }) =>
      void seen.push(`${audience} ${userId} ${destination} ${desired}`),
    onWatermark: (audience, { cancelledBelow }) => void seen.push(`${audience} cancelledBelow ${cancelledBelow}`),
  })
  return seen.toSorted()
}

describe('visitMemberships', () => {
  it('visits the last record of each key in all partitions, without tombstones', async () => {
    for (const user of ['a', 'b', 'c', 'd', 'e']) harness.keep(keyOf(user), {})
    harness.keep(keyOf('b'), { desired: text('false') })
    harness.keep(keyOf('c'), undefined)
    harness.keep(keyOf('c', 'Other'), {})
    harness.keepWatermark('Shoppers', syncId(5))
    expect(await visited()).toEqual([
      'Other c crm true',
      'Shoppers a crm true',
      'Shoppers b crm false',
      'Shoppers cancelledBelow 5',
      'Shoppers cancelledBelow 5',
      'Shoppers d crm true',
      'Shoppers e crm true',
    ])
    expect(await visited(audience => audience === 'Other')).toEqual(['Other c crm true'])
  })

  it('rejects if a batch cannot be read, because the members in it are not known', async () => {
    harness.keep(keyOf('a'), {})
    const unreadBatch = { firstOffset: 1, length: 9, bytes: Buffer.of(1), why: 'the checksum is wrong' }
    harness.log.writeUnreadBatch(topics.memberships, unreadBatch)
    await expect(visited()).rejects.toThrow(
      /^cannot read all audience members, because records 1 to 1 of partition 0 .*: the checksum is wrong;/,
    )
  })

  it('awaits the visitor', async () => {
    for (const user of ['a', 'b', 'c']) harness.keep(keyOf(user), {})
    let [inProgress, highest] = [0, 0]
    await visitMemberships(await source(), {
      async onMembership() {
        highest = Math.max(highest, ++inProgress)
        await Promise.resolve()
        inProgress--
      },
    })
    expect(highest).toBe(1)
  })

  it('lets other work run after each 1,000 memberships', async () => {
    for (let user = 0; user < 4_500; user++) harness.keep(keyOf(`user-${user}`), {})
    let [visits, inTurn, longest] = [0, 0, 0]
    let isDone = false
    const turns = async (): Promise<void> => {
      while (!isDone) {
        await new Promise(resolve => setImmediate(resolve))
        inTurn = 0
      }
    }
    const counting = turns()
    await visitMemberships(await source(), {
      onMembership() {
        visits++
        longest = Math.max(longest, ++inTurn)
      },
    })
    isDone = true
    await counting
    expect(visits).toBe(4_500)
    // One iteration of the event loop can visit the last memberships of a partition and 1,000 of
    // the next.
    expect(longest).toBeLessThan(2_000)
  })

  it('ignores foreign keys, and rejects with the position of a record that cannot be decoded', async () => {
    harness.log.write(topics.memberships, Buffer.from('damaged'), 'foreign')
    expect(await visited()).toEqual([])
    harness.log.write(topics.memberships, Buffer.from('damaged'), '["Shoppers","ada","crm"]')
    await expect(visited()).rejects.toThrow(/hookline\.audience-memberships\/\d\/\d cannot be decoded: not JSON/)
  })
})

describe('audience figures', () => {
  const figures = async (only?: string) =>
    audienceFigures(
      { ...(await source()), ...on(), absentValueOf: name => text(name === 'Score' ? 'null' : 'false') },
      only,
    )

  it('count members and sync statuses per destination', async () => {
    const since = harness.clock.now()
    const unknown = { acknowledged: undefined }
    harness.keep(keyOf('member'), {})
    harness.keep(keyOf('leaving'), {
      desired: text('false'),
      inFlight: { value: text('false'), since, isOvertaken: false },
    })
    harness.keep(keyOf('lost'), unknown)
    harness.keep(keyOf('silent'), {
      ...unknown,
      inFlight: { value: text('true'), since: epochMs(since - changeExpiry - 1), isOvertaken: false },
    })
    harness.keep(keyOf('off'), { desired: text('true'), acknowledged: text('false') })
    harness.keep(keyOf('member', 'Shoppers', 'erp'), { syncId: syncId(3_000) })
    harness.keep(keyOf('scored', 'Score'), { desired: text('12'), acknowledged: text('12') })
    harness.keep(keyOf('none', 'Score'), { desired: text('null'), acknowledged: text('null') })
    harness.keepWatermark('Shoppers', syncId(2_000))
    const all = await figures()
    const none = { acknowledged: 0, in_flight: 0, unknown: 0, different: 0 }
    expect(all.get('Shoppers')).toEqual({
      audience: 'Shoppers',
      newest: 3_000,
      destinations: expect.arrayContaining([
        { destination: 'crm', members: 4, syncStatuses: { acknowledged: 1, in_flight: 1, unknown: 2, different: 1 } },
        { destination: 'erp', members: 1, syncStatuses: { ...none, acknowledged: 1 } },
      ]),
    })
    expect(all.get('Score')?.destinations).toEqual([
      { destination: 'crm', members: 1, syncStatuses: { ...none, acknowledged: 2 } },
    ])
    expect([...(await figures('Score')).keys()]).toEqual(['Score'])
  })

  it.each<[string, cancelledBelow: number, newest: number | undefined]>([
    ['none when there was none', 0, undefined],
    ['none when only an input that could not be decoded has raised the watermark', 5 * idsPerMs, undefined],
    ['the one whose list was empty', 5 * idsPerMs + 7, 5 * idsPerMs + 7],
  ])('have a newest sync: %s', async (_name, cancelledBelow, newest) => {
    harness.keepWatermark('Shoppers', syncId(cancelledBelow))
    expect((await figures()).get('Shoppers')).toEqual({ audience: 'Shoppers', newest, destinations: [] })
  })

  it('list every membership that is not acknowledged', async () => {
    harness.keep(keyOf('ok'), {})
    harness.keep(keyOf('lost'), { acknowledged: undefined })
    harness.keep(keyOf('lost', 'Other'), { acknowledged: undefined })
    const seen: unknown[] = []
    await visitDrift({ ...(await source()), ...on() }, 'Shoppers', each => void seen.push(each))
    expect(seen).toEqual([
      { userId: 'lost', destination: 'crm', standing: 'unknown', state: { ...member, acknowledged: undefined } },
    ])
  })
})
