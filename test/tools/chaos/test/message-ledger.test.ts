import { setImmediate } from 'node:timers/promises'
import { beforeEach, describe, expect, it } from '@jest/globals'
import { type Answer, Ledger } from '../message-ledger.ts'

describe('the ledger of a chaos run', () => {
  let ledger: Ledger
  const send = (id: string, partition: number, acknowledgedAt?: number): void => {
    ledger.sent.set(id, { id, partition, at: 1, acknowledgedAt })
  }
  const call = (id: string, process: string, at: number, answer: Answer = 200, destination = 'crm'): void =>
    void ledger.note({ id, destination, process, at, answer })
  beforeEach(() => {
    ledger = new Ledger()
    send('a', 0, 2)
    send('b', 1, 2)
    send('never-acknowledged', 1)
  })

  it('counts only successes for sent events as deliveries', () => {
    for (const answer of [503, 'hang', 'reset', 410] as const) call('a', 'p1', 3, answer)
    call('of somebody else', 'p1', 3)
    expect(ledger.deliveries).toEqual([])
    call('a', 'p1', 4, 204)
    expect(ledger.deliveries).toHaveLength(1)
    expect(ledger.calls).toHaveLength(6)
  })

  it('keeps one object for a request and its delivery, because a soak has millions', () => {
    const noted = ledger.note({ id: 'a', destination: 'crm', process: 'p1', at: 3, answer: 200 })
    noted.endedAt = 4
    expect(ledger.calls[0]).toBe(noted)
    expect(ledger.deliveries[0]).toBe(noted)
    expect(noted).toMatchObject({ id: 'a', endedAt: 4, sent: { id: 'a', acknowledgedAt: 2 } })
  })

  it.each<[answer: Answer, isRefused: boolean]>([
    [400, true],
    [410, true],
    [408, false],
    [429, false],
    [503, false],
    [200, false],
    ['reset', false],
  ])('takes %s for a refusal for good: %s', (answer, isRefused) => {
    call('a', 'p1', 3, answer)
    expect([...ledger.refused()]).toEqual(isRefused ? ['crm a'] : [])
  })

  it('does not wait for refused messages', async () => {
    call('a', 'p1', 3)
    call('b', 'p1', 4, 400)
    await ledger.settled(['crm'], 60_000)
    expect(ledger.deliveries).toHaveLength(1)
  })

  it('counts the last process that delivered from a partition as its owner', () => {
    call('a', 'p1', 3)
    call('b', 'p1', 4)
    call('b', 'p2', 5)
    expect(ledger.owners()).toEqual(
      new Map([
        [0, 'p1'],
        [1, 'p2'],
      ]),
    )
  })

  describe('waiting for deliveries of given keys', () => {
    const keyOf = ({ sent }: { sent: { partition: number } }): string => String(sent.partition)
    const keys = new Set(['0', '1'])

    it('resolves with the time of the last key, past or future', async () => {
      call('a', 'p1', 10)
      const seen = ledger.seen(keys, { from: 10, patienceMs: 60_000, keyOf })
      call('b', 'p1', 9)
      call('a', 'p1', 11)
      call('b', 'p1', 12)
      expect(await seen).toBe(12)
    })

    it('ignores deliveries from before the fault', async () => {
      call('a', 'p1', 10)
      call('b', 'p1', 10)
      expect(await ledger.seen(keys, { from: 11, patienceMs: 1, keyOf })).toBeUndefined()
    })

    it('resolves immediately when the fault hit no key', async () => {
      expect(await ledger.seen(new Set(), { from: 7, patienceMs: 1, keyOf })).toBe(7)
    })
  })

  it('is settled when every acknowledged event is delivered to every destination', async () => {
    const order: string[] = []
    const settled = ledger.settled(['crm', 'erp'], 60_000).then(() => order.push('settled'))
    for (const destination of ['crm', 'erp'])
      for (const id of ['a', 'b']) {
        order.push(`${id} ${destination}`)
        call(id, 'p1', 3, 200, destination)
        await Promise.resolve()
      }
    await settled
    expect(order.at(-1)).toBe('settled')
    expect(order).toHaveLength(5)
  })

  it('yields to the event loop while it goes through a long run', async () => {
    const events = 50_000
    for (let event = 0; event < events; event += 1) send(`event ${event}`, 0, 2)
    for (const id of ledger.sent.keys()) call(id, 'p1', 3)
    let turns = 0
    const settled = ledger.settled(['crm'], 60_000).then(() => 'settled')
    while ((await Promise.race([settled, setImmediate('a turn')])) === 'a turn') turns += 1
    // `settled` has three loops over all events, and yields after every 10,000 items, except
    // perhaps at the end of a loop.
    expect(turns).toBeGreaterThanOrEqual((3 * events) / 10_000 - 3)
  })
})
