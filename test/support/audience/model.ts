import type { SyncPart } from '../../../src/core/audience/audience-watermark.ts'
import { absentValue } from '../../../src/core/audience/configured-audiences.ts'
import { membershipKey, parseMembershipKey } from '../../../src/core/audience/membership-and-watermark-records.ts'
import { newSyncId, syncBegan } from '../../../src/core/audience/sync-id.ts'
import { SuppressionIndex } from '../../../src/core/deletion/suppressions.ts'
import type { JsonText } from '../../../src/core/message/canonical-json-text.ts'
import type { Event } from '../../../src/core/message/event.ts'
import { type EpochMs, epochMs } from '../../../src/core/time.ts'
import { start } from '../builders.ts'
import { truthOf } from './expected-values.ts'
import { ModelDestinations } from './model-destinations.ts'
import {
  type AudienceCase,
  audienceCases,
  type CommandName,
  destinations,
  directoryOf,
  fates,
  keysOf,
  pick,
  rareCommands,
  userNames,
} from './model-parameters.ts'
import { ModelService } from './stepwise-service.ts'

const hour = 3_600_000

/**
 * One partition of the audiences service, with models of Kafka, the dispatcher and the
 * destinations. `do` runs one command.
 */
export class AudienceModel {
  #now = start
  readonly #marks = new SuppressionIndex()
  readonly #deletedAt = new Map<string, EpochMs>()
  readonly #lists = new Map(audienceCases.map(({ name }) => [name as string, new Set(destinations)]))
  #directory = directoryOf(this.#lists)
  readonly #receivers: ModelDestinations
  readonly #service: ModelService
  #syncs: { readonly audience: AudienceCase; readonly part: SyncPart }[] = []
  /**
   * Audiences after a reset or a change of their destinations: until the next sync, destinations
   * may lack values.
   */
  readonly #missed = new Set<string>()
  readonly #users: readonly string[]
  readonly #isCalm: boolean

  /**
   * With few `users`, more commands affect each user. `isCalm` skips the commands in
   * `rareCommands`.
   */
  constructor({ users, isCalm }: { users: number; isCalm: boolean }) {
    this.#users = userNames.slice(0, users)
    this.#isCalm = isCalm
    const now = () => this.#now
    this.#receivers = new ModelDestinations({ now, marks: this.#marks, report: input => this.#service.append(input) })
    this.#service = new ModelService({
      now,
      marks: this.#marks,
      directory: () => this.#directory,
      emit: event => {
        if (!this.#directory.get(event.origin?.id ?? '')?.destinations.has(event.destinationId ?? ''))
          throw new Error(`sent to ${event.destinationId}, which is not on the list of ${event.origin?.id}`)
        this.#checkDeleted(event)
        this.#receivers.take(event)
      },
    })
  }

  do(name: CommandName, a: number, b: number): void {
    this.pass(1)
    if (!(this.#isCalm && rareCommands.has(name))) this.#commands[name](a, b)
  }

  pass(ms: number): void {
    this.#now = epochMs(this.#now + ms)
  }

  settle(): void {
    let choice = 0
    do while (this.#service.advance(choice++)) this.pass(1)
    while (this.#receivers.deliverAll())
    this.#service.commit()
  }

  syncAll(): void {
    for (const audience of audienceCases) {
      const truth = this.#truth()
      const part = this.#newSync('full')
      for (const user of this.#users) {
        const value = truth.get(`${audience.name}/${user}`)
        if (value !== undefined && value !== absentValue(audience.kind)) this.#observe(audience, part, user, value)
      }
      this.#service.append({ kind: 'sync_ended', audience: audience.name, ...part })
    }
    this.settle()
  }

  /**
   * Members whose value at a destination is wrong. `beforeSync` leaves out members whose value only
   * the next sync corrects.
   */
  wrong({ beforeSync = false } = {}): readonly string[] {
    const truth = this.#truth()
    return this.#keys().flatMap(({ audience, userId, destination }) => {
      const key = membershipKey({ audience: audience.name, userId, destination })
      const waits = this.#missed.has(audience.name) || !this.#receivers.hasLast(key)
      if (beforeSync && waits) return []
      const absent = absentValue(audience.kind)
      const [has, should] = [this.#receivers.valueOf(key) ?? absent, truth.get(`${audience.name}/${userId}`) ?? absent]
      return has === should ? [] : [`${key} has ${has} instead of ${should}`]
    })
  }

  get changes(): number {
    return this.#receivers.changes
  }

  /** Stored memberships of destinations that are on the audience's list. */
  get keptMembers(): readonly string[] {
    const kept = [...this.#service.kept().keys()]
      .map(parseMembershipKey)
      .filter(key => key !== undefined && 'userId' in key)
    if (kept.length !== this.#service.members)
      throw new Error(`${kept.length} on the topic, ${this.#service.members} in memory`)
    return kept
      .filter(({ audience, destination }) => this.#lists.get(audience)?.has(destination))
      .map(key => JSON.stringify(key))
      .sort()
  }

  get presentMembers(): readonly string[] {
    const truth = this.#truth()
    return this.#keys()
      .filter(({ audience, userId }) => {
        const value = truth.get(`${audience.name}/${userId}`)
        return value !== undefined && value !== absentValue(audience.kind)
      })
      .map(key => JSON.stringify({ ...key, audience: key.audience.name }))
      .sort()
  }

  readonly #commands: Readonly<Record<CommandName, (a: number, b: number) => void>> = {
    begin: (a, b) => {
      if (this.#syncs.length >= 4) return
      const part = this.#newSync(b % 3 === 0 ? 'partial' : 'full', (b >> 4) % 4 === 0 ? hour / 6 : 0)
      this.#syncs.push({ audience: pick(audienceCases, a), part })
    },
    observe: (a, b) => {
      const sync = pick(this.#syncs, a)
      if (sync !== undefined)
        this.#observe(sync.audience, sync.part, pick(this.#users, b), pick(sync.audience.values, b >> 4))
    },
    end: a => {
      const sync = pick(this.#syncs, a)
      if (sync === undefined) return
      this.#syncs = this.#syncs.filter(other => other !== sync)
      this.#service.append({ kind: 'sync_ended', audience: sync.audience.name, ...sync.part })
    },
    cut: a => {
      const sync = pick(this.#syncs, a)
      this.#syncs = this.#syncs.filter(other => other !== sync)
    },
    // A late duplicate of an input: the producer repeated the write because it got no response.
    straggle: a => {
      const recent = this.#service.input.filter(
        ({ input, at }) => input.kind !== 'forgotten' && this.#now - at < 20 * hour,
      )
      const input = pick(recent, a)?.input
      if (input === undefined || input.kind === 'reset' || input.kind === 'resend' || input.kind === 'lost') return
      this.#service.append(input)
      // The service treats a repeated report as the report of a second copy, so it may send the
      // value again.
      if (input.kind === 'outcome') this.#receivers.trouble([membershipKey(input)])
    },
    happen: (a, b) => this.#receivers.happen(pick(fates, a), b),
    advance: (a, b) => {
      for (let left = a % 12; left >= 0; left--) this.#service.advance(b >> left)
    },
    commit: () => this.#service.commit(),
    crash: a => this.#service.crash({ isCompacted: a % 2 === 0 }),
    // Lets time pass. All inputs in progress are finished before a step of an hour or more, because
    // no single write takes an hour.
    pass: (a, b) => {
      const length = pick([1_000, 60_000, hour, 6 * hour], a)
      if (length >= hour) this.#service.drain()
      this.pass(length + b)
    },
    // The service finishes all inputs before eight days pass, because it is never down that long.
    leap: () => {
      this.#receivers.giveUpAttempted()
      this.#readAll()
      this.pass(8 * 24 * hour)
      this.#syncs = []
      this.#receivers.vanishAll()
    },
    // After a crash, unfinished inputs would be read with the new list. So all are read before the
    // list changes.
    connect: (a, b) => {
      this.#readAll()
      const { name } = pick(audienceCases, a)
      const destination = pick(destinations, b)
      const list = this.#lists.get(name)
      this.#missed.add(name)
      if (list?.delete(destination)) this.#receivers.trouble(keysOf(name, destination))
      else list?.add(destination)
      this.#directory = directoryOf(this.#lists)
    },
    reset: (a, b) => {
      const { name: audience } = pick(audienceCases, a)
      const destination = pick([undefined, ...destinations], b)
      this.#missed.add(audience)
      this.#service.append({ kind: 'reset', audience, destination })
      this.#receivers.trouble(keysOf(audience, destination))
    },
    resend: (a, b) => {
      const [userId, destination] = [pick(this.#users, b), pick(destinations, b >> 4)]
      this.#service.append({ kind: 'resend', audience: pick(audienceCases, a).name, userId, destination })
    },
    lose: () => this.#service.append({ kind: 'lost' }),
    // A deletion begins with the suppression and ends with `forgotten`. Copies arrive and a sync
    // may end in between, except if a sync whose start time is after the deletion has listed the
    // user.
    forget: (a, b) => {
      const userId = pick(this.#users, a)
      const deletedAt = this.#now
      this.#deletedAt.set(userId, deletedAt)
      this.#marks.apply(userId, [{ source: undefined, deletedAt, isSuppressed: false }])
      this.pass(1)
      if (!this.#isListedAfter(deletedAt, userId)) {
        for (let copy = 0; copy < 4; copy++) this.#receivers.happen(pick(fates, b + copy), b >> copy)
        if (b % 3 === 0) this.#commands.end(b >> 4, 0)
        this.pass(1)
      }
      this.#receivers.forget(userId)
      this.#service.append({ kind: 'forgotten', userId })
    },
  }

  /**
   * Throws if the service sends a message for a deleted user whom no later sync of the audience has
   * listed.
   */
  #checkDeleted({ message, receivedAt, origin }: Event): void {
    const { userId = '' } = message
    const deletedAt = this.#deletedAt.get(userId)
    if (deletedAt === undefined || receivedAt <= deletedAt) return
    if (!this.#isListedAfter(deletedAt, userId, origin?.id)) throw new Error(`sent to the deleted user ${userId}`)
  }

  /** Whether a sync that began after this time has listed the user. */
  #isListedAfter(time: EpochMs, userId: string, audience?: string): boolean {
    return this.#service.input.some(
      ({ input }) =>
        input.kind === 'observed' &&
        input.userId === userId &&
        (audience === undefined || input.audience === audience) &&
        syncBegan(input.syncId) > time,
    )
  }

  #readAll(): void {
    for (let choice = 0; this.#service.advance(choice); choice++) this.pass(1)
    this.#service.commit()
  }

  #keys() {
    return audienceCases.flatMap(audience =>
      this.#users.flatMap(userId =>
        [...(this.#lists.get(audience.name) ?? [])].map(destination => ({ audience, userId, destination })),
      ),
    )
  }

  #truth(): ReadonlyMap<string, string> {
    return truthOf(this.#service.input, this.#deletedAt)
  }

  /** Creates the next sync. The clock of its machine is `aheadMs` ahead of the brokers' clock. */
  #newSync(mode: SyncPart['mode'], aheadMs = 0): SyncPart {
    this.pass(1)
    return { syncId: newSyncId(epochMs(this.#now + aheadMs), `${this.#now}`), mode }
  }

  #observe({ name: audience }: AudienceCase, part: SyncPart, userId: string, value: string): void {
    this.#service.append({ kind: 'observed', audience, userId, value: value as JsonText, ...part })
  }
}
