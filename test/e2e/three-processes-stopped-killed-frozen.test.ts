import { afterEach, describe, expect, it } from '@jest/globals'
import { closingAfterEach } from '../support/cleanup.ts'
import { findingsOf, isCommitted, type Observed, suffered, type Victim } from '../support/process/delivery-findings.ts'
import { partitionOf } from '../support/process/message-ids-with-partition-offsets.ts'
import { Fleet, type FleetProcess } from '../support/process/processes-under-steady-load.ts'
import type { Seen } from '../support/webhook/receiver-recording-sender-and-time.ts'
import type { Findings, Limits } from '../tools/chaos/delivery-verdict.ts'
import { createChance } from '../tools/chaos/seeded-random.ts'

const closing = closingAfterEach()
/** Number of stops or kills in a test. A long run sets HOOKLINE_TEST_ROUNDS. */
const rounds = Number(process.env['HOOKLINE_TEST_ROUNDS'] ?? 2)
const chance = createChance(Number(process.env['SEED'] ?? 1), 'many-processes')
const timeout = 180_000 + rounds * 60_000

let report = ''
afterEach(() => {
  if (process.env['HOOKLINE_TEST_ROUNDS'] !== undefined) process.stderr.write(`${report}\n`)
})

/**
 * Maximum time, in ms, until other processes own the partitions of a killed process. Its session
 * times out after 6 s.
 */
const recoveryMs = 10_000
const noneTwice: Limits = { duplicates: 0, recoveryMs, latestMs: 60_000 }
const withoutPause: Limits = { ...noneTwice, pauseMs: 1_000 }

/**
 * Ends the load. Each message must be delivered and committed, and none may be committed before it
 * is delivered or in a retry topic.
 */
async function expectWhole(fleet: Fleet): Promise<void> {
  const codes = await fleet.settled()
  expect([...fleet.sent.keys()].filter(id => !fleet.receiver.delivered.has(id))).toEqual([])
  expect(codes).toEqual(codes.map(() => 0))
  expect(await fleet.progressFaults()).toEqual([])
  const ends = (await fleet.positions()).map(({ offset }) => offset)
  expect(ends.reduce((sum, end) => sum + end, 0)).toBe(fleet.sent.size)
}

const inWords = ({ sent, lost, duplicates, recoveryMs: ms }: Findings): string =>
  `${sent} sent, ${lost} lost, ${duplicates} twice${ms === 0 ? '' : `, delivered again after ${ms} ms at most`}`

const isBy =
  ({ name }: FleetProcess) =>
  (seen: Seen): boolean =>
    seen.process === name

const firstAfter = (fleet: Fleet, at: number, isSuch: (seen: Seen) => boolean): Seen | undefined =>
  fleet.receiver.seen.find(seen => (fleet.sent.get(seen.id) ?? 0) > at && isSuch(seen))

describe('three processes, twelve partitions, 500 records a second', () => {
  it(
    `SIGTERM, one process after the other, ${rounds} times: no message is lost or duplicated`,
    async () => {
      const fleet = closing(await Fleet.started(3))
      for (let round = 0; round < rounds; round++) {
        expect(await fleet.take().service.stop()).toBe(0)
        await fleet.start()
        await fleet.balanced()
        await fleet.eachPartitionDelivers()
      }
      await expectWhole(fleet)
      const findings = findingsOf(fleet.observed, noneTwice)
      expect(findings.failures).toEqual([])
      report = `SIGTERM ×${rounds}: ${inWords(findings)}`
    },
    timeout,
  )

  it(
    `SIGKILL of one process ${rounds} times: no message is lost, its partitions deliver again within 10 s, and only messages in progress or delivered within the last second are duplicated, but none that was committed`,
    async () => {
      const fleet = closing(await Fleet.started(3))
      const kills: (Victim & { readonly wasCommitted: (id: string) => boolean })[] = []
      for (let round = 0; round < rounds; round++) {
        const victim = fleet.take(chance.between(0, 2))
        const wasCommitted = isCommitted(await fleet.progress())
        kills.push({ what: 'SIGKILL', name: victim.name, at: performance.now(), wasCommitted })
        await victim.service.kill()
        // The two other processes must own all partitions before a new process starts.
        await fleet.balanced()
        await fleet.eachPartitionDelivers()
        await fleet.start()
        await fleet.balanced()
        await fleet.eachPartitionDelivers()
      }
      await expectWhole(fleet)
      const injected = kills.map(kill => suffered(fleet.observed, kill))
      const findings = findingsOf(fleet.observed, noneTwice, injected)
      expect(findings.failures).toEqual([])
      const twice = fleet.receiver.duplicates()
      const ofKills = kills.flatMap(kill =>
        twice.filter(({ first }) => first.process === kill.name).map(each => ({ ...each, kill })),
      )
      expect(ofKills.filter(({ kill, first }) => kill.wasCommitted(first.id))).toEqual([])
      expect([...fleet.sent.keys()].some(id => kills[0]?.wasCommitted(id))).toBe(true)
      report = `SIGKILL ×${rounds}: ${inWords(findings)}`
    },
    timeout,
  )

  it(
    'SIGSTOP until the others own its partitions, then SIGCONT: no message is lost, also of those in its memory; it does not commit over the new owners, and repeats no message that was sent after the SIGSTOP',
    async () => {
      const fleet = closing(await Fleet.started(3))
      const sleeper = fleet.take()
      process.kill(sleeper.service.pid, 'SIGSTOP')
      const frozenAt = performance.now()
      const its = new Set(fleet.receiver.seen.filter(isBy(sleeper)).map(({ id }) => partitionOf(id)))
      const inHand = [...fleet.sent.keys()].filter(id => its.has(partitionOf(id)) && !fleet.receiver.delivered.has(id))
      await fleet.balanced()
      await fleet.eachPartitionDelivers()
      process.kill(sleeper.service.pid, 'SIGCONT')
      const wokenAt = performance.now()
      fleet.processes.push(sleeper)
      await fleet.balanced()
      await fleet.eachPartitionDelivers()
      await expectWhole(fleet)
      expect(inHand.length).toBeGreaterThan(0)
      const { sent, seen } = fleet.observed
      // Leaves out requests that the suspended process may have begun before the SIGSTOP.
      const ended = (each: Seen): boolean =>
        isBy(sleeper)(each) && each.at > wokenAt && (sent.get(each.id) ?? 0) < frozenAt
      const others: Observed = { sent, seen: seen.filter(each => !ended(each)) }
      const stop = suffered(others, { what: 'SIGSTOP', name: sleeper.name, at: frozenAt, healedAt: wokenAt })
      const findings = findingsOf(others, noneTwice, [stop])
      expect(findings.failures).toEqual([])
      expect(firstAfter(fleet, wokenAt, isBy(sleeper))).toBeDefined()
      const slept = `${Math.round(wokenAt - frozenAt)} ms`
      report = `SIGSTOP for ${slept}: ${inWords(findings)}; calls that it ended late: ${seen.length - others.seen.length}`
    },
    timeout,
  )

  it(
    'a fourth process joins: no message is lost or duplicated, and partitions that stay do not pause while the others are drained',
    async () => {
      // Each partition always has a request of three seconds, so its owner needs up to three
      // seconds to drain it.
      const fleet = closing(await Fleet.started(3, count => (count % 30 === 0 ? 3_000 : 20 + ((count * 37) % 180))))
      const before = await fleet.balanced()
      const at = performance.now()
      const fourth = await fleet.start()
      const after = await fleet.balanced()
      await fleet.eachPartitionDelivers()
      await expectWhole(fleet)
      const staying = [...after].flatMap(([member, all]) => all.filter(each => before.get(member)?.includes(each)))
      expect(staying).toHaveLength(9)
      // The fourth process gets a partition only after the previous owner has drained it.
      const recoveredAt = fleet.receiver.seen.find(isBy(fourth))?.at
      const join = { what: `join of ${fourth.name}`, at, from: at, recoveredAt, victims: [] }
      const findings = findingsOf(fleet.observed, withoutPause, [join])
      expect(findings.failures).toEqual([])
      report = `a fourth: ${inWords(findings)}; what stays pauses for ${findings.pauseMs} ms at most`
    },
    timeout,
  )
})
