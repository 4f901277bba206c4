import type { Stoppable } from '../deletion/suppressions.ts'
import { audiencesSource } from '../message/own-event.ts'
import { assertNever, type DurationMs, type EpochMs, epochMs } from '../units.ts'
import { type AudienceDirectory, absentValue } from './directory.ts'
import type { AudienceInput } from './input.ts'
import { type MembershipInput, step } from './membership.ts'
import type { Memberships } from './memberships.ts'
import { PartitionRecords } from './partition-records.ts'
import type { MemberKey } from './record.ts'
import {
  type AudienceMark,
  beginsSync,
  begun,
  closed,
  cutShort,
  losesPart,
  raised,
  resetMark,
  staleReason,
  syncBegan,
} from './sync.ts'
import { type Change, type IgnoredReason, type InputContext, identifyOf } from './transition.ts'

interface Deps {
  readonly directory: () => AudienceDirectory
  /** Whether a deletion stops what is from this time about the user. */
  readonly stops: (about: Stoppable) => 'user_deleted' | 'suppressed' | undefined
  /** So long after it was sent a change counts as undelivered when nothing was heard of it: the retry window and an hour. */
  readonly expiry: DurationMs
  /** As of `PartitionRecords`. */
  readonly inputEnd: number
}

type Input<Kind extends AudienceInput['kind']> = Extract<AudienceInput, { kind: Kind }>

/** The memberships of one partition of users, and what each input makes of them. */
export class AudiencePartition {
  readonly records: PartitionRecords
  readonly #deps: Deps
  readonly #members: Memberships

  constructor(deps: Deps) {
    this.#deps = deps
    this.records = new PartitionRecords(deps.inputEnd)
    this.#members = this.records.members
  }

  /** Whether every input before this one has to be done before it is taken, and this one before any after it. */
  isFence(input: AudienceInput, at: EpochMs): boolean {
    switch (input.kind) {
      case 'observed':
        return (this.#isKnown(input) ? beginsSync : losesPart)(this.#markOf(input.audience), input)
      case 'sync_ended':
        return closed(this.#markOf(input.audience), input, 0, at) !== undefined
      case 'reset':
      case 'forgotten':
        return true
      case 'outcome':
      case 'resend':
        return false
      default:
        return assertNever(input)
    }
  }

  /**
   * What an input changes, in the order in which it is to be written, made as it is asked for: a sync's end may change millions. In
   * memory a change holds once it is handed out. The inputs of one user are taken one after the other, each when the one before is done.
   */
  take(input: AudienceInput, on: InputContext): Iterable<Change> {
    switch (input.kind) {
      case 'observed':
        return this.#observed(input, on)
      case 'sync_ended':
        return this.#syncEnded(input, on)
      case 'outcome':
        return this.#outcome(input, on)
      case 'resend':
        return this.#change(input, input, on)
      case 'reset':
        return this.#reset(input, on)
      case 'forgotten':
        return this.#forgotten(input.userId, on)
      default:
        return assertNever(input)
    }
  }

  /** Memberships kept, and the bytes that they take in memory. */
  size(): ReturnType<Memberships['size']> {
    return this.#members.size()
  }

  *#observed(input: Input<'observed'>, on: InputContext): Iterable<Change> {
    const { audience, userId } = input
    const configured = this.#deps.directory().get(audience)
    const mark = this.#markOf(audience)
    if (configured === undefined) {
      yield ignored('unknown_audience')
      if (losesPart(mark, input)) yield this.#mark(audience, cutShort(mark, input, on.position))
      return
    }
    const stale = staleReason(mark, input)
    if (stale !== undefined) return yield ignored(stale)
    if (beginsSync(mark, input)) yield this.#mark(audience, begun(mark, input, on.position))
    // A list that was begun before the user was deleted says nothing about them, whenever it is read.
    const stopped = this.#stopped(userId, Math.min(on.at, syncBegan(input.syncId)))
    if (stopped !== undefined) return yield ignored(stopped)
    for (const destination of configured.destinations) yield* this.#change({ audience, userId, destination }, input, on)
  }

  *#syncEnded(input: Input<'sync_ended'>, on: InputContext): Iterable<Change> {
    const { audience } = input
    if (!this.#isKnown(input)) return yield ignored('unknown_audience')
    const mark = this.#markOf(audience)
    const stale = staleReason(mark, input)
    if (stale !== undefined) return yield ignored(stale)
    const after = closed(mark, input, on.position, on.at)
    if (after === undefined) return
    if (input.mode === 'full') yield* this.#walk(audience, undefined, input, on)
    yield this.#mark(audience, after)
    // Only now: what the new mark remembers must be written before anybody is forgotten for it.
    yield* this.#walk(audience, undefined, { kind: 'swept' }, on)
  }

  *#reset(input: Input<'reset'>, on: InputContext): Iterable<Change> {
    const { audience, destination } = input
    const mark = destination === undefined ? resetMark(this.#markOf(audience), on.position, on.at) : undefined
    if (mark !== undefined) yield this.#mark(audience, mark)
    yield* this.#walk(audience, destination, input, on)
  }

  *#outcome(input: Input<'outcome'>, on: InputContext): Iterable<Change> {
    // Of somebody who was deleted, nothing is taken up again that was forgotten.
    const stopped = this.#members.get(input) === undefined ? this.#stopped(input.userId, 0) : undefined
    if (stopped !== undefined) return yield ignored(stopped)
    yield* this.#change(input, input, on)
  }

  *#forgotten(userId: string, on: InputContext): Iterable<Change> {
    for (const [audience, byDestination] of this.#members.all()) {
      const states = [...byDestination.values()].flatMap(table => table.get(userId) ?? [])
      // Read again, it may find those of a later life, which it does not end.
      const versions = states.filter(({ position }) => position < on.position).map(({ version }) => version)
      const mark = raised(this.#markOf(audience), Math.max(0, ...versions), on.position)
      // First: after a crash the user is forgotten once more, but nobody would know their versions any more.
      if (mark !== undefined) yield this.#mark(audience, mark)
      for (const destination of byDestination.keys())
        yield* this.#change({ audience, userId, destination }, { kind: 'forgotten' }, on)
    }
  }

  *#change(key: MemberKey, input: MembershipInput, on: InputContext): Iterable<Change> {
    const change = this.#changeOf(key, input, on)
    if (change === undefined) return
    this.#members.put(key, change.state)
    yield change
  }

  /** One input for all of an audience. */
  *#walk(audience: string, only: string | undefined, input: MembershipInput, on: InputContext): Iterable<Change> {
    for (const [destination, table] of this.#members.of(audience)) {
      if (only !== undefined && only !== destination) continue
      const gone: string[] = []
      for (const userId of table.users()) {
        const change = this.#changeOf({ audience, userId, destination }, input, on)
        if (change === undefined) continue
        if (change.state === undefined) gone.push(userId)
        else table.set(userId, change.state)
        yield change
      }
      for (const userId of gone) table.delete(userId)
    }
  }

  #changeOf(key: MemberKey, input: MembershipInput, { position, at, now }: InputContext) {
    const { audience: name, userId, destination } = key
    const audience = this.#deps.directory().get(name)
    const stepped = step(this.#members.get(key), input, {
      position,
      at,
      now: now(),
      absent: audience?.absent ?? absentValue('audience'),
      mark: this.#markOf(name),
      isConnected: audience?.destinations.has(destination) ?? false,
      isRemoved: audience?.configured?.has(destination) === false,
      expiry: this.#deps.expiry,
    })
    if (stepped.kind === 'unchanged') return undefined
    const own = { audience: name, userId, destination }
    if (stepped.kind === 'removed')
      return { kind: 'membership', key: own, identify: undefined, state: undefined, position } as const
    const { state, emit } = stepped
    const identify = emit && audience && identifyOf(own, audience.property, emit, at)
    return { kind: 'membership', key: own, identify, state, position } as const
  }

  /** Whether the configuration of now has the audience. */
  #isKnown({ audience }: { readonly audience: string }): boolean {
    return this.#deps.directory().has(audience)
  }

  #stopped(userId: string, time: number): IgnoredReason | undefined {
    return this.#deps.stops({ userId, sourceId: audiencesSource, receivedAt: epochMs(time) })
  }

  #markOf(audience: string): AudienceMark {
    return this.records.markOf(audience)
  }

  #mark(audience: string, mark: AudienceMark): Change {
    this.records.setMark(audience, mark)
    return { kind: 'mark', audience, mark }
  }
}

const ignored = (reason: IgnoredReason): Change => ({ kind: 'ignored', reason })
