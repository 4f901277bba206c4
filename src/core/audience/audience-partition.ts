import { assertNever } from '../assert-never.ts'
import type { SuppressibleRecord } from '../deletion/suppressions.ts'
import { audiencesSource } from '../message/hookline-own-events.ts'
import { type EpochMs, epochMs } from '../time.ts'
import { type Audience, type AudienceDirectory, absentValue } from './audience-directory.ts'
import { identifyOf } from './identify-message.ts'
import type { AudienceInput, LostInput } from './input.ts'
import { type IgnoredReason, type InputContext, type InputEffect, visitsPerTurn } from './input-effect.ts'
import { type Membership, type MembershipInput, step } from './membership.ts'
import type { MemberKey } from './membership-and-watermark-records.ts'
import type { Memberships } from './memberships.ts'
import { PartitionRecords } from './restored-memberships-and-watermarks.ts'
import { type SyncId, syncBegan } from './sync-id.ts'
import {
  type AudienceWatermark,
  afterLostInput,
  afterSyncEnd,
  afterSyncStart,
  afterUnreadInput,
  beginsSync,
  isLostInputFatal,
  resetWatermark,
  staleReason,
  withRaisedFloor,
} from './sync-watermark.ts'

interface Deps {
  readonly directory: () => AudienceDirectory
  /** Returns why the deletion of a user forbids this input; `undefined` if it does not. */
  readonly stops: (about: SuppressibleRecord) => 'user_deleted' | 'suppressed' | undefined
  /**
   * End offset of this partition of the audience input topic, read before the memberships are
   * restored (see `PartitionRecords`).
   */
  readonly inputEnd: number
}

type Input<Kind extends AudienceInput['kind']> = Extract<AudienceInput, { kind: Kind }>

/**
 * The memberships of one partition: what each destination has, and should have, for each user of an
 * audience.
 */
export class AudiencePartition {
  readonly records: PartitionRecords
  readonly #deps: Deps
  readonly #members: Memberships
  /**
   * By audience and destination: the newest full sync of which an input was handled while the
   * audience did not list the destination. Only in memory, so a restart or a rebalance during the
   * sync loses it.
   */
  readonly #missed = new Map<string, Map<string, SyncId>>()

  constructor(deps: Deps) {
    this.#deps = deps
    this.records = new PartitionRecords(deps.inputEnd)
    this.#members = this.records.members
  }

  /**
   * Whether the input must run alone, because it changes the watermark or the memberships of many
   * users.
   */
  isFence(input: AudienceInput | LostInput, at: EpochMs): boolean {
    switch (input.kind) {
      case 'observed':
        return (this.#isKnown(input) ? beginsSync : isLostInputFatal)(this.#markOf(input.audience), input)
      case 'sync_ended':
        return afterSyncEnd(this.#markOf(input.audience), input, 0, at) !== undefined
      case 'reset':
      case 'forgotten':
      case 'lost':
        return true
      case 'outcome':
      case 'resend':
        return false
      default:
        return assertNever(input)
    }
  }

  /**
   * Yields the changes of an input in the order of their writes to Kafka. A change takes effect in
   * memory when it is yielded, except for the removals in `#applyToAll`. Inputs of one user must be
   * processed one after the other.
   */
  take(input: AudienceInput | LostInput, on: InputContext): Iterable<InputEffect> {
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
      case 'lost':
        return this.#lost(on)
      default:
        return assertNever(input)
    }
  }

  size(): ReturnType<Memberships['size']> {
    return this.#members.size()
  }

  *#observed(input: Input<'observed'>, on: InputContext): Iterable<InputEffect> {
    const { audience, userId } = input
    const configured = this.#deps.directory().get(audience)
    const mark = this.#markOf(audience)
    if (configured === undefined) {
      yield ignored('unknown_audience')
      if (isLostInputFatal(mark, input)) yield this.#mark(audience, afterLostInput(mark, input, on.position))
      return
    }
    const stale = staleReason(mark, input)
    if (stale !== undefined) return yield ignored(stale)
    if (beginsSync(mark, input)) yield this.#mark(audience, afterSyncStart(mark, input, on.position))
    if (input.mode === 'full') this.#noteMissed(input, configured)
    // A sync that began before the user was deleted must not add the user again.
    const stopped = this.#stopped(userId, Math.min(on.at, syncBegan(input.syncId)))
    if (stopped !== undefined) return yield ignored(stopped)
    for (const destination of configured.destinations) yield* this.#change({ audience, userId, destination }, input, on)
    // A disabled destination gets no message, but its memberships show the missed changes.
    for (const destination of configured.disabled) yield* this.#change({ audience, userId, destination }, input, on)
  }

  *#syncEnded(input: Input<'sync_ended'>, on: InputContext): Iterable<InputEffect> {
    const { audience } = input
    if (!this.#isKnown(input)) return yield ignored('unknown_audience')
    const mark = this.#markOf(audience)
    const stale = staleReason(mark, input)
    // If the input is read again, its watermark was written, but the removal of memberships may be
    // unfinished.
    const isReadAgain = input.mode === 'full' && on.position <= mark.position
    if (stale !== undefined && !isReadAgain) return yield ignored(stale)
    if (stale === undefined) {
      const after = afterSyncEnd(mark, input, on.position, on.at)
      if (after === undefined) return
      if (input.mode === 'full') yield* this.#applyToAll(audience, undefined, input, on)
      yield this.#mark(audience, after)
    }
    // Only the watermark keeps the sync ids and versions of removed memberships (`closed` and
    // `floor`), so it must be written before they are removed.
    yield* this.#applyToAll(audience, undefined, { kind: 'swept' }, on)
  }

  *#reset(input: Input<'reset'>, on: InputContext): Iterable<InputEffect> {
    const { audience, destination } = input
    const mark = destination === undefined ? resetWatermark(this.#markOf(audience), on.position, on.at) : undefined
    if (mark !== undefined) yield this.#mark(audience, mark)
    // It may have the id of a sync with a time in the future.
    if (destination === undefined) this.#missed.delete(audience)
    yield* this.#applyToAll(audience, destination, input, on)
  }

  *#outcome(input: Input<'outcome'>, on: InputContext): Iterable<InputEffect> {
    // A result that arrives after the deletion of a user must not create a membership again.
    const stopped = this.#members.get(input) === undefined ? this.#stopped(input.userId, 0) : undefined
    if (stopped !== undefined) return yield ignored(stopped)
    yield* this.#change(input, input, on)
  }

  *#forgotten(userId: string, on: InputContext): Iterable<InputEffect> {
    for (const [audience, byDestination] of this.#members.all()) {
      const states = [...byDestination.values()].flatMap(table => table.get(userId) ?? [])
      // A membership with a later position is ignored: its user returned before this deletion was
      // processed again.
      const versions = states.filter(({ position }) => position < on.position).map(({ version }) => version)
      const mark = withRaisedFloor(this.#markOf(audience), Math.max(0, ...versions), on.position)
      // The watermark is written first, so that a crash cannot lose the highest version of the
      // removed memberships.
      if (mark !== undefined) yield this.#mark(audience, mark)
      for (const destination of byDestination.keys())
        yield* this.#change({ audience, userId, destination }, { kind: 'forgotten' }, on)
    }
  }

  *#lost(on: InputContext): Iterable<InputEffect> {
    // An audience that is missing from the configuration may come back before the end of its sync.
    const kept = Array.from(this.#members.all(), ([audience]) => audience)
    for (const audience of new Set([...this.#deps.directory().keys(), ...kept])) {
      const mark = afterUnreadInput(this.#markOf(audience), on.position, on.at, on.now())
      if (mark !== undefined) yield this.#mark(audience, mark)
    }
  }

  *#change(key: MemberKey, input: MembershipInput, on: InputContext): Iterable<InputEffect> {
    const change = this.#changeOf(key, input, on)
    if (change === undefined) return
    this.#members.put(key, change.state)
    yield change
  }

  /**
   * Applies one input to all members of an audience. Members are removed after the loop, because
   * none may be removed while it iterates.
   */
  *#applyToAll(
    audience: string,
    only: string | undefined,
    input: MembershipInput,
    on: InputContext,
  ): Iterable<InputEffect> {
    let visits = 0
    for (const [destination, table] of this.#members.of(audience)) {
      if (only !== undefined && only !== destination) continue
      const gone: string[] = []
      for (const userId of table.users()) {
        if (++visits % visitsPerTurn === 0) yield { kind: 'visited' }
        const change = this.#changeOf({ audience, userId, destination }, input, on)
        if (change === undefined) continue
        if (change.state === undefined) gone.push(userId)
        else table.set(userId, change.state)
        yield change
      }
      for (const userId of gone) {
        if (++visits % visitsPerTurn === 0) yield { kind: 'visited' }
        table.delete(userId)
      }
    }
  }

  #changeOf(key: MemberKey, input: MembershipInput, { position, at, now }: InputContext) {
    const { audience: name, userId, destination } = key
    const audience = this.#deps.directory().get(name)
    const before = this.#members.get(key)
    // Inputs between a user's deletion and `forgotten` must send nothing, unless a sync that began
    // after the deletion listed the user. Some suppressions stop only messages from before the
    // deletion.
    const isStopped = before !== undefined && input.kind !== 'observed' && this.#isDeleted(userId, before)
    const stepped = step(before, input, {
      position,
      at,
      now: now(),
      absent: audience?.absent ?? absentValue('audience'),
      mark: this.#markOf(name),
      isConnected: audience?.destinations.has(destination) === true && !isStopped,
      isListed: isListedBy(audience, destination) && !this.#hasMissed(key, input),
      isRemoved: audience?.configured?.has(destination) === false,
    })
    if (stepped.kind === 'unchanged') return undefined
    const own = { audience: name, userId, destination }
    if (stepped.kind === 'removed')
      return { kind: 'membership', key: own, identify: undefined, state: undefined, position } as const
    const { state, update } = stepped
    // The same time as in `#isDeleted`: the dispatcher then drops a message that this process sends
    // because it does not know a deletion yet.
    const listedAt = state.syncId > 0 ? epochMs(Math.min(at, syncBegan(state.syncId))) : at
    const identify = update && audience && identifyOf(own, audience.property, update, at, listedAt)
    return { kind: 'membership', key: own, identify, state, position } as const
  }

  /** Notes which destinations do not get this input, because the audience does not list them. */
  #noteMissed({ audience, syncId }: Input<'observed'>, configured: Audience): void {
    for (const destination of this.#members.of(audience).keys()) {
      if (isListedBy(configured, destination)) continue
      const missed = this.#missed.get(audience) ?? new Map<string, SyncId>()
      this.#missed.set(audience, missed.set(destination, syncId))
    }
  }

  /**
   * Whether this is the end of a sync that the destination has missed in part. It must not remove
   * members: the sync may have listed them.
   */
  #hasMissed({ audience, destination }: MemberKey, input: MembershipInput): boolean {
    return input.kind === 'sync_ended' && input.syncId <= (this.#missed.get(audience)?.get(destination) ?? 0)
  }

  /** Whether the current configuration has the audience. */
  #isKnown({ audience }: { readonly audience: string }): boolean {
    return this.#deps.directory().has(audience)
  }

  /**
   * Whether the user is suppressed, or was deleted after the start of the newest sync that listed
   * the user.
   */
  #isDeleted(userId: string, { syncId }: Membership): boolean {
    return this.#stopped(userId, syncBegan(syncId)) !== undefined
  }

  #stopped(userId: string, time: number): IgnoredReason | undefined {
    return this.#deps.stops({ userId, sourceId: audiencesSource, receivedAt: epochMs(time) })
  }

  #markOf(audience: string): AudienceWatermark {
    return this.records.markOf(audience)
  }

  #mark(audience: string, mark: AudienceWatermark): InputEffect {
    this.records.setMark(audience, mark)
    return { kind: 'mark', audience, mark }
  }
}

/** Whether the audience lists the destination, even if the destination is disabled. */
const isListedBy = (audience: Audience | undefined, destination: string): boolean =>
  audience?.destinations.has(destination) === true || audience?.disabled.has(destination) === true

const ignored = (reason: IgnoredReason): InputEffect => ({ kind: 'ignored', reason })
