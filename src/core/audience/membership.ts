import { assertNever } from '../assert-never.ts'
import type { JsonText } from '../message/json-text.ts'
import type { ReportedResult } from '../message/reported-delivery-result.ts'
import type { EpochMs } from '../time.ts'
import { clampedToNow, isDayBefore, type SyncId, syncId, versionAt } from './sync-id.ts'
import type { AudienceWatermark } from './sync-watermark.ts'
import {
  changeExpiry,
  confirm,
  isUnconfirmed,
  markUnconfirmed,
  shiftBy,
  type UnconfirmedChanges,
  unlessExpired,
} from './unconfirmed-changes.ts'

/**
 * The state of one user in one audience at one destination. Without a stored membership, the
 * destination has acknowledged the absent value (`false`, or `null` for a trait), and no other
 * value is desired.
 */
export interface Membership {
  /**
   * The value in the newest sync that listed the user, or the absent value if a later full sync did
   * not list the user.
   */
  readonly desired: JsonText
  /**
   * The value that the destination has. `undefined`: unknown, and different from every desired
   * value.
   */
  readonly acknowledged: JsonText | undefined
  /**
   * The change that was sent and has no result yet. No other change is sent until its result
   * arrives or `changeExpiry` has passed. Otherwise a retry of this change could overwrite a newer
   * value.
   */
  readonly inFlight: ChangeInFlight | undefined
  /** Number of the last change. The next one gets this number plus 1. */
  readonly version: number
  /** The newest sync that listed the user. */
  readonly syncId: SyncId
  readonly unconfirmed: UnconfirmedChanges | undefined
  /**
   * Offset of the last input that changed this state. After a crash, inputs up to this offset are
   * ignored.
   */
  readonly position: number
}

export interface ChangeInFlight {
  readonly value: JsonText
  /** When the change was sent. */
  readonly since: EpochMs
  /**
   * If true, the destination's value is unknown even after this change was delivered: since it was
   * sent, a reset arrived, or another value may have been delivered.
   */
  readonly isOvertaken: boolean
}

export type MembershipInput =
  | { readonly kind: 'observed'; readonly syncId: SyncId; readonly value: JsonText }
  /**
   * The end of a full sync. A user whom neither this sync nor a newer one has listed has left the
   * audience.
   */
  | { readonly kind: 'sync_ended'; readonly syncId: SyncId }
  | { readonly kind: 'outcome'; readonly version: number; readonly value: JsonText; readonly result: ReportedResult }
  /**
   * An operator replays a dead-lettered change. The desired value is sent instead, because the old
   * one may be outdated.
   */
  | { readonly kind: 'resend' }
  /**
   * A reset: it is unknown which value the destination has, so the next sync sends the value again.
   */
  | { readonly kind: 'reset' }
  /**
   * The audience's watermark has increased. A membership that it covers is removed (see
   * `isForgettable`).
   */
  | { readonly kind: 'swept' }
  /** The user was deleted. */
  | { readonly kind: 'forgotten' }

export interface StepContext {
  /** Offset of the input in its partition, and its append time (`at`). */
  readonly position: number
  readonly at: EpochMs
  /** Current wall-clock time. */
  readonly now: EpochMs
  readonly absent: JsonText
  readonly mark: AudienceWatermark
  /**
   * Whether changes may be sent: the destination receives this audience, and no deletion of the
   * user forbids it.
   */
  readonly isConnected: boolean
  /** Whether the audience lists the destination, even if it is disabled. */
  readonly isListed: boolean
  /** Whether the destination was removed from the configuration. */
  readonly isRemoved: boolean
}

/**
 * A change to send as an identify message. `version` is the number of the change. The same input,
 * processed again after a crash, gives the same version, and so the same message id.
 */
export interface MembershipUpdate {
  readonly value: JsonText
  readonly version: number
}

export type Step =
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'changed'; readonly state: Membership; readonly update: MembershipUpdate | undefined }
  /** The membership is removed with a tombstone. */
  | { readonly kind: 'removed' }

const unchanged: Step = { kind: 'unchanged' }
const removed: Step = { kind: 'removed' }

/**
 * The new state after an input, and whether a change may be sent now. `applied` sends a change only
 * if the destination lacks the desired value, no change is in flight, and `isConnected` is true.
 */
interface Transition {
  readonly state: Membership
  readonly send: boolean
}

/**
 * Returns what an input changes in a membership. It is a pure function: processes that read the
 * same inputs send the same changes with the same versions.
 */
export function step(state: Membership | undefined, input: MembershipInput, on: StepContext): Step {
  if (state !== undefined && on.position <= state.position) return unchanged
  if (input.kind === 'forgotten') return state === undefined ? unchanged : removed
  const transition = state === undefined ? onFirstInput(input, on) : transitionOf(state, input, on)
  return transition === undefined ? unchanged : applied(state, transition, on)
}

/** Handles an input for a user without a stored membership. */
function onFirstInput(input: MembershipInput, { absent, mark, at }: StepContext): Transition | undefined {
  if (input.kind === 'observed') {
    const { value, syncId: named } = input
    const version = Math.max(versionAt(at), mark.floor + 1)
    return { state: { ...initialState(absent, version), desired: value, syncId: named }, send: true }
  }
  // A process sent this change, and crashed before it wrote the membership. The next owner of the
  // partition did not repeat the change, because its configuration no longer listed the
  // destination. A version up to `mark.floor` can belong to a removed membership, so it is ignored.
  if (input.kind === 'outcome' && input.version > mark.floor)
    return adoptUnknownChange(initialState(absent, mark.floor), input, at)
  return undefined
}

const initialState = (absent: JsonText, version: number): Membership => ({
  desired: absent,
  acknowledged: absent,
  inFlight: undefined,
  version,
  syncId: syncId(0),
  unconfirmed: undefined,
  position: -1,
})

type Outcome = Extract<MembershipInput, { kind: 'outcome' }>

function transitionOf(state: Membership, input: MembershipInput, on: StepContext): Transition | undefined {
  switch (input.kind) {
    case 'observed': {
      const { syncId: named, value } = input
      // An older sync, or a user who is listed twice with the same value, changes nothing.
      if (named < state.syncId || (named === state.syncId && value === state.desired)) return undefined
      return { state: { ...withExpiredChange(state, on), desired: value, syncId: named }, send: true }
    }
    case 'sync_ended': {
      if (input.syncId <= state.syncId || !on.isListed) return { state, send: false }
      const still = withExpiredChange(state, on)
      return { state: still.desired === on.absent ? still : { ...still, desired: on.absent }, send: true }
    }
    case 'outcome':
      return onOutcome(state, input, on)
    case 'resend':
      return { state: withExpiredChange(state, on), send: true }
    case 'reset':
      return { state: withClampedSyncId(withUnknownValue(state), on.at), send: false }
    case 'swept':
      return { state, send: false }
    case 'forgotten':
      return undefined
    default:
      return assertNever(input)
  }
}

/** Treats a change as undelivered when its result did not arrive within `changeExpiry`. */
function withExpiredChange(state: Membership, { at }: StepContext): Membership {
  return state.inFlight === undefined || at - state.inFlight.since <= changeExpiry ? state : markUndelivered(state, at)
}

const markUndelivered = (state: Membership, at: EpochMs): Membership => ({
  ...state,
  acknowledged: undefined,
  inFlight: undefined,
  unconfirmed: markUnconfirmed(unlessExpired(state.unconfirmed, at), at),
})

/**
 * Notes that the destination's value is unknown. It stays unknown after the delivery of a change in
 * flight.
 */
function withUnknownValue(state: Membership): Membership {
  const { acknowledged, inFlight } = state
  if (acknowledged === undefined && (inFlight === undefined || inFlight.isOvertaken)) return state
  return { ...state, acknowledged: undefined, inFlight: inFlight && { ...inFlight, isOvertaken: true } }
}

/**
 * Replaces a sync id in the future. Otherwise all syncs until that time would have smaller ids and
 * be ignored.
 */
function withClampedSyncId(state: Membership, at: EpochMs): Membership {
  const named = clampedToNow(state.syncId, at)
  return named === state.syncId ? state : { ...state, syncId: named }
}

function onOutcome(state: Membership, outcome: Outcome, on: StepContext): Transition | undefined {
  const age = state.version - outcome.version
  if (age < 0) return adoptUnknownChange(state, outcome, on.at)
  const { inFlight } = state
  const sent = inFlight === undefined ? state.acknowledged : inFlight.value
  // Two changes have the same version. One process sent a change and crashed before it wrote the
  // state. The next owner of the partition did not repeat it, because its configuration did not
  // list the destination, and gave the version to its own change. If both were delivered, the
  // destination's value is unknown.
  if (age === 0 && sent !== undefined && sent !== outcome.value)
    return outcome.result === 'delivered' ? { state: withUnknownValue(state), send: true } : undefined
  if (age === 0 && inFlight !== undefined) {
    // A desired value that has changed is sent now. Otherwise the next sync sends the value again.
    if (outcome.result === 'undelivered')
      return { state: markUndelivered(state, on.at), send: state.desired !== inFlight.value }
    const acknowledged = inFlight.isOvertaken ? undefined : inFlight.value
    return { state: { ...state, acknowledged, inFlight: undefined }, send: true }
  }
  return isUnconfirmed(unlessExpired(state.unconfirmed, on.at), age) ? onLateOutcome(state, outcome, age) : undefined
}

/**
 * Handles the late result of an unconfirmed change. After a crash, the identify message of a change
 * can be sent a second time. The destination may then have received it after later changes, and
 * have the old value again, even with the result `undelivered`, for example after a timeout.
 */
function onLateOutcome(before: Membership, { value, result }: Outcome, age: number): Transition {
  // A destination ignores further messages of a delivered change, because they have the same
  // message id. After `undelivered`, another message of the change can still be delivered.
  const state = result === 'delivered' ? { ...before, unconfirmed: confirm(before.unconfirmed, age) } : before
  const { acknowledged, inFlight } = state
  if (inFlight !== undefined) return { state: value === inFlight.value ? state : withUnknownValue(state), send: false }
  // An unknown value stays unknown, because results do not arrive in the order of the deliveries.
  if (acknowledged === undefined || acknowledged === value) return { state, send: false }
  return { state: withUnknownValue(state), send: true }
}

/**
 * Adds an unknown change when its result arrives: a process sent it, and crashed before it wrote
 * the state.
 */
function adoptUnknownChange(before: Membership, { version, value, result }: Outcome, at: EpochMs): Transition {
  const state = before.inFlight === undefined ? before : markUndelivered(before, at)
  const known = {
    ...state,
    version,
    unconfirmed: shiftBy(unlessExpired(state.unconfirmed, at), version - state.version),
  }
  return { state: result === 'delivered' ? { ...known, acknowledged: value } : markUndelivered(known, at), send: false }
}

function applied(before: Membership | undefined, { state, send }: Transition, on: StepContext): Step {
  const { position, now } = on
  if (send && on.isConnected && state.inFlight === undefined && state.desired !== state.acknowledged) {
    const update = { value: state.desired, version: state.version + 1 }
    const inFlight = { value: state.desired, since: now, isOvertaken: false }
    return {
      kind: 'changed',
      state: { ...state, version: update.version, inFlight, unconfirmed: shiftBy(state.unconfirmed, 1), position },
      update,
    }
  }
  if (isForgettable(state, on)) return before === undefined ? unchanged : removed
  return state === before ? unchanged : { kind: 'changed', state: { ...state, position }, update: undefined }
}

/**
 * Whether a membership can be removed without losing information:
 * - The destination has acknowledged the absent value, or was removed from the configuration.
 * - The watermark covers the membership: no input of a sync up to `syncId` is accepted, and no
 *   version up to `version` is used again.
 */
function isForgettable(state: Membership, on: StepContext): boolean {
  const { syncId, version } = state
  const { closed, floor } = on.mark
  return (isAbsent(state, on) || isOfRemovedDestination(state, on)) && syncId <= closed && version <= floor
}

function isAbsent({ desired, acknowledged, inFlight, unconfirmed }: Membership, { absent, at }: StepContext): boolean {
  const isKnown = inFlight === undefined && unlessExpired(unconfirmed, at) === undefined
  return isKnown && desired === absent && acknowledged === absent
}

/**
 * Whether the membership can be removed because its destination was removed from the configuration.
 * The last sync that listed the user must be a day older than `mark.closed`: an operator may revert
 * the removal, and a process with an old configuration may not know a new destination yet.
 */
const isOfRemovedDestination = ({ syncId }: Membership, { isRemoved, mark }: StepContext): boolean =>
  isRemoved && isDayBefore(syncId, mark.closed)
