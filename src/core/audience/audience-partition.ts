import { assertNever } from '../assert-never.ts'
import type { SuppressibleRecord } from '../deletion/suppressions.ts'
import { audiencesSource } from '../message/own-event-builder-and-source-ids.ts'
import { type EpochMs, epochMs } from '../time.ts'
import {
  type AudienceWatermark,
  afterSyncCancellation,
  afterSyncEnd,
  afterSyncStart,
  afterUnreadInput,
  beginsSync,
  mustCancelSync,
  resetWatermark,
  staleReason,
  withRaisedFloor,
} from './audience-watermark.ts'
import { type Audience, type AudienceDirectory, absentValue } from './configured-audiences.ts'
import { identifyOf } from './identify-message.ts'
import type { AudienceInput, LostInput } from './input.ts'
import { type IgnoredReason, type InputContext, type InputEffect, visitsPerTurn } from './input-effect-types.ts'
import { type Membership, type MembershipInput, step } from './membership.ts'
import type { MemberKey } from './membership-and-watermark-records.ts'
import type { Memberships } from './memberships.ts'
import { PartitionRecords } from './partition-memberships-and-watermarks.ts'
import { type SyncId, syncBegan } from './sync-id.ts'

interface Deps {
  readonly directory: () => AudienceDirectory
  /** Returns why a user's deletion stops this record; `undefined` if no deletion stops it. */
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
   * The newest full sync that a destination has missed in part, by audience and destination. A
   * destination misses an input if the audience does not list the destination when the input is
   * handled. Kept only in memory, so a restart or a rebalance during the sync loses this
   * information.
   */
  readonly #missed = new Map<string, Map<string, SyncId>>()

  constructor(deps: Deps) {
    this.#deps = deps
    this.records = new PartitionRecords(deps.inputEnd)
    this.#members = this.records.members
  }

  /**
   * Whether the input must run alone, because it changes the watermark of an audience, or the
   * memberships of many users.
   */
  mustRunAlone(input: AudienceInput | LostInput, at: EpochMs): boolean {
    switch (input.kind) {
      case 'observed':
        return (this.#isKnown(input) ? beginsSync : mustCancelSync)(this.#watermarkOf(input.audience), input)
      case 'sync_ended':
        return afterSyncEnd(this.#watermarkOf(input.audience), input, 0, at) !== undefined
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
   * memory when it is yielded, but `#applyToAll` removes members only after it has yielded all
   * changes of a destination. Inputs of one user must be processed one after the other.
   */
  applyInput(input: AudienceInput | LostInput, context: InputContext): Iterable<InputEffect> {
    switch (input.kind) {
      case 'observed':
        return this.#observed(input, context)
      case 'sync_ended':
        return this.#syncEnded(input, context)
      case 'outcome':
        return this.#outcome(input, context)
      case 'resend':
        return this.#change(input, input, context)
      case 'reset':
        return this.#reset(input, context)
      case 'forgotten':
        return this.#forgotten(input.userId, context)
      case 'lost':
        return this.#lost(context)
      default:
        return assertNever(input)
    }
  }

  size(): ReturnType<Memberships['size']> {
    return this.#members.size()
  }

  *#observed(input: Input<'observed'>, context: InputContext): Iterable<InputEffect> {
    const { audience, userId } = input
    const configured = this.#deps.directory().get(audience)
    const watermark = this.#watermarkOf(audience)
    if (configured === undefined) {
      yield ignored('unknown_audience')
      if (mustCancelSync(watermark, input))
        yield this.#setWatermark(audience, afterSyncCancellation(watermark, input, context.position))
      return
    }
    const stale = staleReason(watermark, input)
    if (stale !== undefined) return yield ignored(stale)
    if (beginsSync(watermark, input))
      yield this.#setWatermark(audience, afterSyncStart(watermark, input, context.position))
    if (input.mode === 'full') this.#noteMissed(input, configured)
    // A sync that began before the user was deleted must not add the user again.
    const stopped = this.#stopped(userId, Math.min(context.at, syncBegan(input.syncId)))
    if (stopped !== undefined) return yield ignored(stopped)
    for (const destination of configured.destinations)
      yield* this.#change({ audience, userId, destination }, input, context)
    // A disabled destination gets no message, but its memberships show the missed changes.
    for (const destination of configured.disabled)
      yield* this.#change({ audience, userId, destination }, input, context)
  }

  *#syncEnded(input: Input<'sync_ended'>, context: InputContext): Iterable<InputEffect> {
    const { audience } = input
    if (!this.#isKnown(input)) return yield ignored('unknown_audience')
    const watermark = this.#watermarkOf(audience)
    const stale = staleReason(watermark, input)
    // After a crash, Hookline may read this input again although it has written the watermark. It
    // then repeats the removal of memberships, because the removal may be unfinished.
    const isReadAgain = input.mode === 'full' && context.position <= watermark.position
    if (stale !== undefined && !isReadAgain) return yield ignored(stale)
    if (stale === undefined) {
      const after = afterSyncEnd(watermark, input, context.position, context.at)
      if (after === undefined) return
      if (input.mode === 'full') yield* this.#applyToAll(audience, undefined, input, context)
      yield this.#setWatermark(audience, after)
    }
    // Only the watermark keeps the sync ids and versions of removed memberships (`closedUpTo` and
    // `versionFloor`), so it must be written before the memberships are removed.
    yield* this.#applyToAll(audience, undefined, { kind: 'watermark_raised' }, context)
  }

  *#reset(input: Input<'reset'>, context: InputContext): Iterable<InputEffect> {
    const { audience, destination } = input
    const watermark =
      destination === undefined ? resetWatermark(this.#watermarkOf(audience), context.position, context.at) : undefined
    if (watermark !== undefined) yield this.#setWatermark(audience, watermark)
    // `#missed` may have a sync id with a time in the future, because a clock was wrong. If the id
    // stayed, `#hasMissed` would be true for the end of every sync until that time.
    if (destination === undefined) this.#missed.delete(audience)
    yield* this.#applyToAll(audience, destination, input, context)
  }

  *#outcome(input: Input<'outcome'>, context: InputContext): Iterable<InputEffect> {
    // A result that arrives after the deletion of a user must not create a membership again.
    const stopped = this.#members.get(input) === undefined ? this.#stopped(input.userId, 0) : undefined
    if (stopped !== undefined) return yield ignored(stopped)
    yield* this.#change(input, input, context)
  }

  *#forgotten(userId: string, context: InputContext): Iterable<InputEffect> {
    for (const [audience, byDestination] of this.#members.all()) {
      const states = [...byDestination.values()].flatMap(table => table.get(userId) ?? [])
      // After a crash, Hookline may process a deletion again. It ignores memberships with a later
      // position, because the user returned after the deletion.
      const versions = states.filter(({ position }) => position < context.position).map(({ version }) => version)
      const watermark = withRaisedFloor(this.#watermarkOf(audience), Math.max(0, ...versions), context.position)
      // The watermark is written first, so that a crash cannot lose the highest version of the
      // removed memberships.
      if (watermark !== undefined) yield this.#setWatermark(audience, watermark)
      for (const destination of byDestination.keys())
        yield* this.#change({ audience, userId, destination }, { kind: 'forgotten' }, context)
    }
  }

  *#lost(context: InputContext): Iterable<InputEffect> {
    // Also cancels the syncs of audiences that have memberships, but are not configured: an
    // audience may be configured again before the end of its sync.
    const kept = Array.from(this.#members.all(), ([audience]) => audience)
    for (const audience of new Set([...this.#deps.directory().keys(), ...kept])) {
      const watermark = afterUnreadInput(this.#watermarkOf(audience), context.position, context.at, context.now())
      if (watermark !== undefined) yield this.#setWatermark(audience, watermark)
    }
  }

  *#change(key: MemberKey, input: MembershipInput, context: InputContext): Iterable<InputEffect> {
    const change = this.#changeOf(key, input, context)
    if (change === undefined) return
    this.#members.put(key, change.state)
    yield change
  }

  /**
   * Applies one input to all members of an audience. Removes members only after the loop over
   * `table.users()`, because this iterator permits no removals.
   */
  *#applyToAll(
    audience: string,
    onlyDestination: string | undefined,
    input: MembershipInput,
    context: InputContext,
  ): Iterable<InputEffect> {
    let visits = 0
    for (const [destination, table] of this.#members.tablesOf(audience)) {
      if (onlyDestination !== undefined && onlyDestination !== destination) continue
      const gone: string[] = []
      for (const userId of table.users()) {
        if (++visits % visitsPerTurn === 0) yield { kind: 'visited' }
        const change = this.#changeOf({ audience, userId, destination }, input, context)
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
    // After a user's deletion, inputs must send nothing about the user until the input `forgotten`
    // removes the memberships. Exception: a sync that began after the deletion has listed the user.
    // The dispatcher alone would not stop all messages about the user, because some suppressions
    // stop only messages from before the deletion.
    const isStopped = before !== undefined && input.kind !== 'observed' && this.#isDeleted(userId, before)
    const stepped = step(before, input, {
      position,
      at,
      now: now(),
      absent: audience?.absent ?? absentValue('audience'),
      watermark: this.#watermarkOf(name),
      isConnected: audience?.destinations.has(destination) === true && !isStopped,
      isListed: isListedBy(audience, destination) && !this.#hasMissed(key, input),
      isRemoved: audience?.configured?.has(destination) === false,
    })
    if (stepped.kind === 'unchanged') return undefined
    const own = { audience: name, userId, destination }
    if (stepped.kind === 'removed')
      return { kind: 'membership', key: own, identify: undefined, state: undefined, position } as const
    const { state, update } = stepped
    // The message gets the time with which `#isDeleted` compares deletions. So if this process does
    // not know a deletion yet and sends a message, the dispatcher drops the message.
    const listedAt = state.syncId > 0 ? epochMs(Math.min(at, syncBegan(state.syncId))) : at
    const identify = update && audience && identifyOf(own, audience.property, update, at, listedAt)
    return { kind: 'membership', key: own, identify, state, position } as const
  }

  /** Notes which destinations do not get this input, because the audience does not list them. */
  #noteMissed({ audience, syncId }: Input<'observed'>, configured: Audience): void {
    for (const destination of this.#members.tablesOf(audience).keys()) {
      if (isListedBy(configured, destination)) continue
      const missed = this.#missed.get(audience) ?? new Map<string, SyncId>()
      this.#missed.set(audience, missed.set(destination, syncId))
    }
  }

  /**
   * Whether `input` is the end of a sync that the destination has missed in part. This end must not
   * remove members, because the sync may have listed them.
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

  #watermarkOf(audience: string): AudienceWatermark {
    return this.records.watermarkOf(audience)
  }

  #setWatermark(audience: string, watermark: AudienceWatermark): InputEffect {
    this.records.setWatermark(audience, watermark)
    return { kind: 'watermark', audience, watermark }
  }
}

/** Whether the audience lists the destination, even if the destination is disabled. */
const isListedBy = (audience: Audience | undefined, destination: string): boolean =>
  audience?.destinations.has(destination) === true || audience?.disabled.has(destination) === true

const ignored = (reason: IgnoredReason): InputEffect => ({ kind: 'ignored', reason })
