import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { identifyOf } from '../../../../src/core/audience/identify-message.ts'
import type { AudienceInput } from '../../../../src/core/audience/input.ts'
import { decodeDeletion } from '../../../../src/core/deletion/deletion-record-and-status.ts'
import { deleteMessagesOf } from '../../../../src/core/deletion/deletion-request.ts'
import type { JsonText } from '../../../../src/core/message/canonical-json-text.ts'
import type { Event } from '../../../../src/core/message/event.ts'
import type { LogRecord } from '../../../../src/core/ports.ts'
import { durationMs } from '../../../../src/core/time.ts'
import { tiersOf } from '../../../../src/core/topics.ts'
import { answered, DispatcherHarness, destination, ok } from '../../../support/dispatcher/harness.ts'

const hour = 3_600_000
/** A short schedule, so that all results occur soon. */
const schedule = [10_000, 30_000].map(durationMs)
const destinations = ['crm', 'erp']
const writable = ['audienceInput', 'deletions', 'deadLetter'] as const

type Step =
  | { readonly kind: 'change'; readonly user: number; readonly to: string }
  | { readonly kind: 'delete' | 'mark'; readonly user: number }
  | { readonly kind: 'pass'; readonly ms: number }
  | { readonly kind: 'crash' }
  /** Changes the status with which a receiver responds from now on. */
  | { readonly kind: 'answer'; readonly status: number; readonly of: string }
  | { readonly kind: 'switch'; readonly of: string; readonly enabled: boolean }
  | { readonly kind: 'connect'; readonly of: string; readonly source: string }
  | { readonly kind: 'topic'; readonly name: (typeof writable)[number]; readonly isWritable: boolean }

const user = fc.nat(2)
const some = fc.constantFrom(...destinations)
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('change'), user, to: fc.constantFrom('crm', 'erp', 'gone') }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('delete'), user }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('mark'), user }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('pass'), ms: fc.constantFrom(0, 1, 10_000, 60_000) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('crash') }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('answer'), status: fc.constantFrom(200, 404, 503), of: some }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('switch'), of: some, enabled: fc.boolean() }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('connect'), of: some, source: fc.constantFrom('web', 'app') }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('topic'), name: fc.constantFrom(...writable), isWritable: fc.boolean() }),
  },
) as fc.Arbitrary<Step>

/** The reports that an event needs, as `<message id> <destination>`. */
const expectedOf = ({ origin, destinationId, message }: Event): readonly string[] =>
  origin?.kind === 'audience'
    ? [`${message.messageId} ${destinationId}`]
    : destinations.map(id => `${message.messageId} ${id}`)

class World {
  readonly answers = new Map(destinations.map(id => [id, 200]))
  readonly events: Event[] = []
  readonly took = new Set<string>()
  crashes = 0
  #harness: DispatcherHarness | undefined

  async start(): Promise<void> {
    this.#harness = await DispatcherHarness.started({
      destinations: destinations.map(id => destination(id)),
      delivery: { schedule },
      answer: ({ url, headers }) => {
        const [id = ''] = new URL(url).host.split('.')
        const status = this.answers.get(id) ?? 200
        if (status === 200) this.took.add(`${headers['X-Message-Id']} ${id}`)
        return status === 200 ? ok : answered(status)
      },
    })
  }

  get harness(): DispatcherHarness {
    return this.#harness as DispatcherHarness
  }

  async take(step: Step): Promise<void> {
    const { harness } = this
    const { clock, log, topics } = harness
    switch (step.kind) {
      case 'change':
        return this.#write(step.user, step.to)
      case 'delete':
        return this.#write(step.user)
      case 'mark':
        return harness.mark(`user-${step.user}`, { source: undefined, deletedAt: clock.now(), isSuppressed: false })
      case 'pass':
        return harness.advance(step.ms)
      case 'crash':
        this.crashes++
        return harness.restart()
      case 'answer':
        return void this.answers.set(step.of, step.status)
      case 'switch':
        harness.destinations = harness.destinations.map(each =>
          each.id === step.of ? { ...each, enabled: step.enabled } : each,
        )
        return
      case 'connect':
        harness.destinations = harness.destinations.map(each =>
          each.id === step.of ? { ...each, sources: [step.source] } : each,
        )
        return
      case 'topic':
        if (step.isWritable) log.unwritable.delete(topics[step.name])
        else log.unwritable.add(topics[step.name])
    }
  }

  /** Writes a membership update for the destination `to`. Without `to`, writes a delete message. */
  #write(user: number, to?: string): void {
    const at = this.harness.clock.now()
    const userId = `user-${user}`
    const number = this.events.length
    if (to !== undefined) {
      const key = { audience: 'Score', userId, destination: to }
      this.events.push(identifyOf(key, 'score', { version: number, value: '1' as JsonText }, at))
    } else {
      const sources = [{ id: 'web', destinations }]
      const record = { id: `d-${number}`, createdAt: at, users: 1, isSuppressed: false, sources }
      this.events.push(...deleteMessagesOf({ userIds: [userId], sources: undefined, suppress: false }, record))
    }
    this.harness.write(this.events.at(-1) as Event)
  }

  /**
   * The number of reports by message id and destination, and the keys of those with the result
   * `delivered`.
   */
  reports(): { readonly counts: ReadonlyMap<string, number>; readonly delivered: ReadonlySet<string> } {
    const { log, topics } = this.harness
    const counts = new Map<string, number>()
    const delivered = new Set<string>()
    const note = (event: Event | undefined, to: string, result: string): void => {
      const key = `${event?.message.messageId} ${to}`
      counts.set(key, (counts.get(key) ?? 0) + 1)
      if (result === 'delivered') delivered.add(key)
    }
    for (const { value } of log.records(topics.audienceInput)) {
      const input = JSON.parse(String(value)) as Extract<AudienceInput, { kind: 'outcome' }>
      note(this.events[input.version], input.destination, input.result)
    }
    for (const { key, value } of log.records(topics.deletions)) {
      const entry = decodeDeletion(String(key), String(value))
      if (entry?.kind !== 'outcome') throw new Error(`no outcome: ${key}`)
      const { request, destination: to, result } = entry.outcome
      note(
        this.events.find(({ origin }) => origin?.id === request),
        to,
        result,
      )
    }
    return { counts, delivered }
  }

  /** The reports that are neither written nor still waiting. */
  lost(): readonly string[] {
    const { log, topics } = this.harness
    const { counts } = this.reports()
    const waiting = new Set<string>()
    for (const tier of tiersOf(schedule).map(topics.retry))
      for (const record of notDone(log.records(tier), log.committed('retries', tier)))
        waiting.add(`${record.headers['message-id']} ${record.headers['destination']}`)
    return (
      this.events
        .slice(0, log.committed('live', topics.events))
        .flatMap(expectedOf)
        // An event with an unknown source or destination waits as one record with the destination
        // `-`.
        .filter(key => !counts.has(key) && !waiting.has(key) && !waiting.has(`${key.split(' ')[0]} -`))
    )
  }
}

const notDone = (records: readonly LogRecord[], committed: number): readonly LogRecord[] =>
  records.filter(({ offset }) => offset >= committed)

describe('every event of an audience or a deletion', () => {
  it('is reported at least once before it is done, exactly once without a crash, and as delivered only if it was', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30 }), async steps => {
        const world = new World()
        await world.start()
        for (const each of steps) {
          await world.take(each)
          expect(world.lost()).toEqual([])
        }
        world.harness.log.unwritable.clear()
        await world.harness.advance(hour)
        expect(world.lost()).toEqual([])
        const { counts, delivered } = world.reports()
        expect(new Set(counts.keys())).toEqual(new Set(world.events.flatMap(expectedOf)))
        expect([...delivered].filter(key => !world.took.has(key))).toEqual([])
        if (world.crashes === 0) expect([...counts.values()].filter(count => count !== 1)).toEqual([])
      }),
      { numRuns: 60 },
    )
  }, 600_000)
})
