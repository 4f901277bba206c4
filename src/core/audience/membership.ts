import { assertNever } from '../assert-never.ts'
import type { ChangeResult } from '../message/change-result.ts'
import type { JsonText } from '../message/json-text.ts'
import type { DurationMs, EpochMs } from '../time.ts'
import { clampedToNow, isDayBefore, type SyncId, syncId, versionAt } from './sync-id.ts'
import type { AudienceWatermark } from './sync-watermark.ts'
import {
  confirm,
  isUnconfirmed,
  markUnconfirmed,
  shiftBy,
  type UnconfirmedChanges,
  unlessExpired,
} from './unconfirmed-changes.ts'

/**
 * The state of one user in one audience at one destination. A user in the default state has no
 * stored membership: their value is the absent value (`false`, or `null` for a trait), and the
 * destination has acknowledged it.
 */
export interface Membership {
  /**
   * The value from the newest sync that listed the user, or the absent value when a later full sync
   * did not list them.
   */
  readonly desired: JsonText
  /** The value that the destination has; `undefined` (unknown) differs from every value. */
  readonly acknowledged: JsonText | undefined
  /**
   * The change in flight. Nothing else is sent until its result is known, so that a retry never
   * overwrites a newer value.
   */
  readonly inFlight: ChangeInFlight | undefined
  /** Version of the last change; the next change has this plus one. */
  readonly version: number
  /** The newest sync that listed the user. */
  readonly syncId: SyncId
  readonly unconfirmed: UnconfirmedChanges | undefined
  /**
   * Offset of the last input that changed this state. After a crash, inputs up to this offset are
   * read again and ignored.
   */
  readonly position: number
}

export interface ChangeInFlight {
  readonly value: JsonText
  /** When the change was sent. */
  readonly since: EpochMs
  /**
   * Whether an older change with another value may have been delivered after this one was sent, or
   * a reset arrived. A delivery of this change then does not prove the destination's value.
   */
  readonly isOvertaken: boolean
}

/** An input for one membership. */
export type MembershipInput =
  | { readonly kind: 'observed'; readonly syncId: SyncId; readonly value: JsonText }
  /** The end of a full sync. A user whom only older syncs listed has left the audience. */
  | { readonly kind: 'sync_ended'; readonly syncId: SyncId }
  | { readonly kind: 'outcome'; readonly version: number; readonly value: JsonText; readonly result: ChangeResult }
  /**
   * Replay of a dead-lettered change. The current value is sent instead, if the destination still
   * needs it.
   */
  | { readonly kind: 'resend' }
  /** The destination has lost its data: the next sync sends all values again. */
  | { readonly kind: 'reset' }
  /** The audience's watermark was raised. Memberships that it makes superfluous are removed. */
  | { readonly kind: 'swept' }
  /** The user was deleted. */
  | { readonly kind: 'forgotten' }

export interface StepContext {
  /** Offset of the input in its partition, and the time at which Kafka appended it (`at`). */
  readonly position: number
  readonly at: EpochMs
  /** Current wall-clock time, for a change that is sent now. */
  readonly now: EpochMs
  readonly absent: JsonText
  readonly mark: AudienceWatermark
  /** Whether the destination receives this audience according to the configuration. */
  readonly isConnected: boolean
  /** Whether the destination was removed from the configuration. */
  readonly isRemoved: boolean
  /** A change without a result counts as undelivered after this time. */
  readonly expiry: DurationMs
}

/**
 * A membership update to send as an identify message. Each change has a new version. Processing the
 * same input again yields the same version.
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
 * The state after an input, before anything is sent. `send`: whether the desired value is sent now,
 * if it differs from the value that the destination has.
 */
interface Transition {
  readonly state: Membership
  readonly send: boolean
}

/**
 * Returns what an input changes in a membership. This is a pure function. Processes that read the
 * same inputs with the same configuration send the same changes with the same versions.
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
  // No removed membership has a version above the floor, so this change is of one that was never
  // written: the process crashed after sending. The next owner did not repeat it, because the
  // destination was no longer listed. The next sync sends the correct value.
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
      // An older sync, or a repetition within the same sync, changes nothing, even when the change
      // was dead-lettered since then.
      if (named < state.syncId || (named === state.syncId && value === state.desired)) return undefined
      return { state: { ...withExpiredChange(state, on), desired: value, syncId: named }, send: true }
    }
    case 'sync_ended': {
      if (input.syncId <= state.syncId || !on.isConnected) return { state, send: false }
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

/** Treats a change as undelivered when its result did not arrive within `expiry`. */
function withExpiredChange(state: Membership, { at, expiry }: StepContext): Membership {
  return state.inFlight === undefined || at - state.inFlight.since <= expiry ? state : markUndelivered(state, at)
}

const markUndelivered = (state: Membership, at: EpochMs): Membership => ({
  ...state,
  acknowledged: undefined,
  inFlight: undefined,
  unconfirmed: markUnconfirmed(unlessExpired(state.unconfirmed, at), at),
})

/** Makes the destination's value unknown, even if the change in flight is delivered later. */
function withUnknownValue(state: Membership): Membership {
  const { acknowledged, inFlight } = state
  if (acknowledged === undefined && (inFlight === undefined || inFlight.isOvertaken)) return state
  return { ...state, acknowledged: undefined, inFlight: inFlight && { ...inFlight, isOvertaken: true } }
}

/**
 * Lowers a sync id that lies in the future. A sync that took its id from a fast clock would
 * otherwise hide all later syncs until that time.
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
  // Two changes can have the same version: a process sent this outcome's change and crashed before
  // it wrote the state. The next owner, whose configuration did not list the destination, did not
  // repeat the change, and a later one got its version.
  if (age === 0 && sent !== undefined && sent !== outcome.value)
    return outcome.result === 'delivered' ? { state: withUnknownValue(state), send: true } : undefined
  if (age === 0 && inFlight !== undefined) {
    // A desired value that changed while this change was in flight was never sent, so it is sent
    // now. An unchanged value waits for the next sync.
    if (outcome.result === 'undelivered')
      return { state: markUndelivered(state, on.at), send: state.desired !== inFlight.value }
    const acknowledged = inFlight.isOvertaken ? undefined : inFlight.value
    return { state: { ...state, acknowledged, inFlight: undefined }, send: true }
  }
  return isUnconfirmed(unlessExpired(state.unconfirmed, on.at), age) ? onLateOutcome(state, outcome, age) : undefined
}

/**
 * Handles the late result of a copy of an unconfirmed change. The copy was delivered, or may have
 * been (after a timeout). Its delivery may have come before the later changes or may have
 * overwritten them.
 */
function onLateOutcome(before: Membership, { value, result }: Outcome, age: number): Transition {
  // After a delivery the destination ignores further copies. After a failure, another copy can
  // still be delivered.
  const state = result === 'delivered' ? { ...before, unconfirmed: confirm(before.unconfirmed, age) } : before
  const { acknowledged, inFlight } = state
  if (inFlight !== undefined) return { state: value === inFlight.value ? state : withUnknownValue(state), send: false }
  // An unknown value stays unknown. Results do not arrive in the order of the deliveries, so even
  // the result of the last change proves nothing.
  if (acknowledged === undefined || acknowledged === value) return { state, send: false }
  return { state: withUnknownValue(state), send: true }
}

/** Adopts a change that was sent but is missing in the state. */
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
 * Whether a membership can be removed without losing information. The destination must have
 * acknowledged the absent value, or must have been removed. The watermark must also cover the
 * membership: no sync up to `syncId` is still accepted, and no version up to `version` is used
 * again.
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
 * Whether the destination is removed, and the last sync of the user began a day or more before the
 * last closed sync. The delay protects memberships while a process does not yet know a new
 * destination, and when an operator soon reverts the removal.
 */
const isOfRemovedDestination = ({ syncId }: Membership, { isRemoved, mark }: StepContext): boolean =>
  isRemoved && isDayBefore(syncId, mark.closed)
