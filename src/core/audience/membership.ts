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
 * One user in one audience at one destination. Without a stored membership, the value for users
 * outside the audience (`absent`) is both desired and acknowledged.
 */
export interface Membership {
  /**
   * The value in the newest sync that listed the user. After a full sync without the user, the
   * value for users outside the audience (`absent`).
   */
  readonly desired: JsonText
  /**
   * The value that the destination has. `undefined`: unknown, which counts as different from every
   * desired value.
   */
  readonly acknowledged: JsonText | undefined
  /**
   * The change whose result has not arrived. Until the result arrives or `changeExpiry` is over, no
   * other change is sent: a retry of this change could overwrite the newer value.
   */
  readonly inFlight: ChangeInFlight | undefined
  /** Number of the last change. The next change gets this number plus 1. */
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
   * If true, the destination's value is unknown even after this change is delivered, because a
   * `reset` arrived or another value may have been delivered after the change was sent.
   */
  readonly isOvertaken: boolean
}

export type MembershipInput =
  | { readonly kind: 'observed'; readonly syncId: SyncId; readonly value: JsonText }
  /**
   * The end of a full sync. Users whom neither this sync nor a newer sync listed have left the
   * audience.
   */
  | { readonly kind: 'sync_ended'; readonly syncId: SyncId }
  | { readonly kind: 'outcome'; readonly version: number; readonly value: JsonText; readonly result: ReportedResult }
  /**
   * An operator replays a dead-lettered change. The desired value is sent instead, because the
   * value of the dead letter may be outdated.
   */
  | { readonly kind: 'resend' }
  /**
   * A reset: it is unknown which value the destination has, so the next sync sends the value again.
   */
  | { readonly kind: 'reset' }
  /**
   * The audience's watermark has increased. A membership that the watermark covers is removed (see
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
 * A change to send. The same input, processed again after a crash, gives the same version, and so
 * the same message id.
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

/** `send`: whether a change may be sent now. `applied` checks further conditions. */
interface Transition {
  readonly state: Membership
  readonly send: boolean
}

/**
 * Computes how an input changes a membership. A pure function, because processes that read the same
 * inputs must send the same changes with the same versions.
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
  // A process sent the change of this outcome, and crashed before it wrote the membership. Outcomes
  // with versions up to `mark.floor` are ignored, because they can belong to removed memberships.
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
 * Notes that the destination's value is unknown. The value stays unknown even if a change in flight
 * is delivered.
 */
function withUnknownValue(state: Membership): Membership {
  const { acknowledged, inFlight } = state
  if (acknowledged === undefined && (inFlight === undefined || inFlight.isOvertaken)) return state
  return { ...state, acknowledged: undefined, inFlight: inFlight && { ...inFlight, isOvertaken: true } }
}

/**
 * Lowers a sync id of a future time to `at`. Otherwise, all syncs until that time would be ignored.
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
  // If a process crashed after it sent a change, two changes can have the same version. If both
  // were delivered, the value is unknown.
  if (age === 0 && sent !== undefined && sent !== outcome.value)
    return outcome.result === 'delivered' ? { state: withUnknownValue(state), send: true } : undefined
  if (age === 0 && inFlight !== undefined) {
    // If the desired value differs from the undelivered value, the desired value is sent now.
    // Otherwise, the next sync sends it again.
    if (outcome.result === 'undelivered')
      return { state: markUndelivered(state, on.at), send: state.desired !== inFlight.value }
    const acknowledged = inFlight.isOvertaken ? undefined : inFlight.value
    return { state: { ...state, acknowledged, inFlight: undefined }, send: true }
  }
  return isUnconfirmed(unlessExpired(state.unconfirmed, on.at), age) ? onLateOutcome(state, outcome, age) : undefined
}

/**
 * Handles the late result of an unconfirmed change. Even after `undelivered`, the change may have
 * reached the destination and replaced a newer value.
 */
function onLateOutcome(before: Membership, { value, result }: Outcome, age: number): Transition {
  // Only `delivered` confirms the change: destinations then ignore further messages of the change.
  // After `undelivered`, another message of the change can still be delivered.
  const state = result === 'delivered' ? { ...before, unconfirmed: confirm(before.unconfirmed, age) } : before
  const { acknowledged, inFlight } = state
  if (inFlight !== undefined) return { state: value === inFlight.value ? state : withUnknownValue(state), send: false }
  // An unknown value stays unknown, because results do not arrive in the order of the deliveries.
  if (acknowledged === undefined || acknowledged === value) return { state, send: false }
  return { state: withUnknownValue(state), send: true }
}

/**
 * Adds a change that is known only from its result: a process sent the change, and crashed before
 * it wrote the state.
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
 * Whether a membership can be removed without losing information: the user is absent or the
 * destination removed, and the watermark covers `syncId` and `version`.
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
 * Whether the destination was removed, and syncs up to a day after `syncId` are closed. Within this
 * day, an operator may revert the removal, or this process may not know a new destination yet.
 */
const isOfRemovedDestination = ({ syncId }: Membership, { isRemoved, mark }: StepContext): boolean =>
  isRemoved && isDayBefore(syncId, mark.closed)
