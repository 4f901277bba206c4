import { afterEach, describe, expect, it } from '@jest/globals'
import { closingAfterEach } from '../support/cleanup.ts'
import type { Seen } from '../support/deliveries-seen.ts'
import { Fleet, isCommitted, partitionOf } from '../support/fleet.ts'

const closing = closingAfterEach()
/** More than two restarts and kills in a longer run. */
const rounds = Number(process.env['HOOKLINE_TEST_ROUNDS'] ?? 2)
const timeout = 120_000 + rounds * 30_000

let report = ''
afterEach(() => {
  if (process.env['HOOKLINE_TEST_ROUNDS'] !== undefined) process.stderr.write(`${report}\n`)
})

/** All that was sent came, and the sender knows it. */
function expectNothingLost(fleet: Fleet): void {
  expect([...fleet.sent.keys()].filter(id => !fleet.receiver.delivered.has(id))).toEqual([])
}

interface Twice {
  readonly first: Seen
  readonly again: Seen
}

interface Kill {
  readonly victim: string
  readonly at: number
  /** As of the last look before it. */
  readonly wasCommitted: (id: string) => boolean
}

const firstAfter = (fleet: Fleet, at: number, isSuch: (seen: Seen) => boolean): Seen | undefined =>
  fleet.receiver.seen.find(seen => (fleet.sent.get(seen.id) ?? 0) > at && isSuch(seen))

describe('three processes, twelve partitions, a steady load', () => {
  it(
    `SIGTERM, one process after the other, ${rounds} times: nothing is lost, nothing comes twice`,
    async () => {
      const fleet = closing(await Fleet.started(3))
      for (let round = 0; round < rounds; round++) {
        expect(await fleet.takeOldest().service.stop()).toBe(0)
        await fleet.start()
        await fleet.balanced()
        await fleet.eachPartitionDelivers()
      }
      await fleet.settled()
      expectNothingLost(fleet)
      expect(fleet.receiver.duplicates()).toEqual([])
      report = `rolling: ${fleet.sent.size} sent, 0 lost, 0 twice`
    },
    timeout,
  )

  it(
    `SIGKILL ${rounds} times: nothing is lost, and nothing comes twice that was committed as done, in order or not`,
    async () => {
      const fleet = closing(await Fleet.started(3))
      const kills: Kill[] = []
      const back: number[] = []
      for (let round = 0; round < rounds; round++) {
        const victim = fleet.takeOldest()
        const wasCommitted = isCommitted(await fleet.progress())
        const at = performance.now()
        kills.push({ victim: victim.name, at, wasCommitted })
        await victim.service.kill()
        // The two others take over all of it, before anybody replaces the third.
        await fleet.balanced()
        await fleet.eachPartitionDelivers()
        back.push(Math.round(performance.now() - at))
        await fleet.start()
        await fleet.balanced()
      }
      await fleet.settled()
      expectNothingLost(fleet)
      const twice = fleet.receiver.duplicates()
      // What came again after a kill was not committed as done at the last look before it.
      const isOf = ({ first, again }: Twice, { victim }: Kill): boolean =>
        first.process === victim && again.process !== victim
      expect(twice.filter(each => kills.some(kill => isOf(each, kill) && kill.wasCommitted(each.first.id)))).toEqual([])
      expect([...fleet.sent.keys()].some(id => kills[0]?.wasCommitted(id))).toBe(true)
      // Nothing came again for another reason.
      expect(twice.filter(each => !kills.some(kill => isOf(each, kill)))).toEqual([])
      const late = twice.filter(each =>
        kills.some(kill => isOf(each, kill) && (each.first.answeredAt ?? kill.at) < kill.at - 1_000),
      ).length
      report = `kills: ${fleet.sent.size} sent, 0 lost, ${twice.length} twice (${late} done more than 1 s before), all deliver again after ${back} ms`
    },
    timeout,
  )

  it(
    'SIGSTOP until the others have taken over, then SIGCONT: nothing lost, no commit goes back, the sleeper repeats nothing that was sent while it slept or later',
    async () => {
      const fleet = closing(await Fleet.started(3))
      const sleeper = fleet.takeOldest()
      const back: string[] = []
      const watching = new AbortController()
      const watch = (async () => {
        for (let last = await fleet.positions(); !watching.signal.aborted; ) {
          const now = await fleet.positions()
          now.forEach(({ offset }, partition) => {
            const before = last[partition]?.offset ?? 0
            if (offset < before) back.push(`${partition}: ${before} → ${offset}`)
          })
          last = now
        }
      })()
      process.kill(sleeper.service.pid, 'SIGSTOP')
      const frozenAt = performance.now()
      await fleet.balanced()
      await fleet.eachPartitionDelivers()
      process.kill(sleeper.service.pid, 'SIGCONT')
      const wokenAt = performance.now()
      fleet.processes.push(sleeper)
      await fleet.balanced()
      await fleet.eachPartitionDelivers()
      await fleet.settled()
      watching.abort()
      await watch
      expectNothingLost(fleet)
      expect(back).toEqual([])
      const twice = fleet.receiver.duplicates()
      // What it had begun before it slept it may end: of what was waiting for it in its sockets it begins nothing.
      const begun = twice.filter(
        ({ first, again }) => again.process === sleeper.name && (fleet.sent.get(first.id) ?? 0) > frozenAt,
      )
      expect(begun).toEqual([])
      expect(firstAfter(fleet, wokenAt, seen => seen.process === sleeper.name)).toBeDefined()
      report = `freeze of ${Math.round(wokenAt - frozenAt)} ms: ${fleet.sent.size} sent, 0 lost, ${twice.length} twice`
    },
    timeout,
  )

  it(
    'a fourth process joins: nothing lost, nothing twice, and what does not move goes on while the rest is drained',
    async () => {
      // In each partition some call is under way for three seconds at any time: so long takes what has to move.
      const fleet = closing(await Fleet.started(3, count => (count % 30 === 0 ? 3_000 : 20 + ((count * 37) % 180))))
      const before = await fleet.balanced()
      const fourth = await fleet.start()
      // It has joined, and has nothing before the others have drained what they are to give up.
      const joinedAt = performance.now()
      const after = await fleet.balanced()
      await fleet.eachPartitionDelivers()
      await fleet.settled()
      expectNothingLost(fleet)
      expect(fleet.receiver.duplicates()).toEqual([])
      const drained = fleet.receiver.seen.find(({ process }) => process === fourth.name)?.at ?? 0
      const staying = [...after].flatMap(([member, all]) => all.filter(each => before.get(member)?.includes(each)))
      expect(staying).toHaveLength(9)
      const wentOn = staying.filter(each =>
        firstAfter(fleet, joinedAt, ({ id, at }) => partitionOf(id) === each && at < drained),
      )
      expect(wentOn).toEqual(staying)
      report = `a fourth: ${fleet.sent.size} sent, 0 lost, 0 twice; it begins ${Math.round(drained - joinedAt)} ms after its join`
    },
    timeout,
  )
})
