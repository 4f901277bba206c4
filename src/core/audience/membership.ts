import { assertNever } from '../assert-never.ts'
import type { JsonText } from '../message/canonical-json-text.ts'
import type { ReportedResult } from '../message/delivered-or-undelivered.ts'
import type { EpochMs } from '../time.ts'
import type { AudienceWatermark } from './audience-watermark.ts'
import { clampedToNow, isDayBefore, type SyncId, syncId, versionAt } from './sync-id.ts'
import {
  changeExpiry,
  confirm,
  isUnconfirmed,
  markUnconfirmed,
  shiftBy,
  type UnconfirmedChanges,
  unlessExpired,
} from './unconfirmed-changes-bit-set.ts'

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
   * The value that the destination has; `undefined` if the value is unknown. An unknown value
   * counts as different from every desired value.
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
   * The audience's watermark has increased. A membership is removed if it is not needed and the
   * watermark covers it (see `isForgettable`).
   */
  | { readonly kind: 'watermark_raised' }
  /** The user was deleted. */
  | { readonly kind: 'forgotten' }

export interface StepContext {
  /** Offset of the input in its partition, and its append time (`at`). */
  readonly position: number
  readonly at: EpochMs
  /** Current wall-clock time. */
  readonly now: EpochMs
  readonly absent: JsonText
  readonly watermark: AudienceWatermark
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
export function step(state: Membership | undefined, input: MembershipInput, context: StepContext): Step {
  if (state !== undefined && context.position <= state.position) return unchanged
  if (input.kind === 'forgotten') return state === undefined ? unchanged : removed
  const transition = state === undefined ? onFirstInput(input, context) : transitionOf(state, input, context)
  return transition === undefined ? unchanged : applied(state, transition, context)
}

/** Handles an input for a user without a stored membership. */
function onFirstInput(input: MembershipInput, { absent, watermark, at }: StepContext): Transition | undefined {
  if (input.kind === 'observed') {
    const { value, syncId: named } = input
    const version = Math.max(versionAt(at), watermark.versionFloor + 1)
    return { state: { ...initialState(absent, version), desired: value, syncId: named }, send: true }
  }
  // A process sent the change of this outcome, and crashed before it wrote the membership. Outcomes
  // with versions up to `watermark.versionFloor` are ignored, because they can belong to removed
  // memberships.
  if (input.kind === 'outcome' && input.version > watermark.versionFloor)
    return adoptUnknownChange(initialState(absent, watermark.versionFloor), input, at)
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

function transitionOf(state: Membership, input: MembershipInput, context: StepContext): Transition | undefined {
  switch (input.kind) {
    case 'observed': {
      const { syncId: named, value } = input
      // An older sync, or a user who is listed twice with the same value, changes nothing.
      if (named < state.syncId || (named === state.syncId && value === state.desired)) return undefined
      return { state: { ...withExpiredChange(state, context), desired: value, syncId: named }, send: true }
    }
    case 'sync_ended': {
      if (input.syncId <= state.syncId || !context.isListed) return { state, send: false }
      const still = withExpiredChange(state, context)
      return { state: still.desired === context.absent ? still : { ...still, desired: context.absent }, send: true }
    }
    case 'outcome':
      return onOutcome(state, input, context)
    case 'resend':
      return { state: withExpiredChange(state, context), send: true }
    case 'reset':
      return { state: withClampedSyncId(withUnknownValue(state), context.at), send: false }
    case 'watermark_raised':
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
 * Lowers a sync id with a time in the future to the id for the time `at`. Otherwise, Hookline would
 * ignore all syncs until the future time.
 */
function withClampedSyncId(state: Membership, at: EpochMs): Membership {
  const named = clampedToNow(state.syncId, at)
  return named === state.syncId ? state : { ...state, syncId: named }
}

function onOutcome(state: Membership, outcome: Outcome, context: StepContext): Transition | undefined {
  const versionsBehind = state.version - outcome.version
  if (versionsBehind < 0) return adoptUnknownChange(state, outcome, context.at)
  const { inFlight } = state
  const sent = inFlight === undefined ? state.acknowledged : inFlight.value
  // If a process crashed after it sent a change, the next owner of the partition can send another
  // value with the same version. If both were delivered, the destination's value is unknown.
  if (versionsBehind === 0 && sent !== undefined && sent !== outcome.value)
    return outcome.result === 'delivered' ? { state: withUnknownValue(state), send: true } : undefined
  if (versionsBehind === 0 && inFlight !== undefined) {
    // If the desired value differs from the undelivered value, the desired value is sent now.
    // Otherwise, the next sync sends it again.
    if (outcome.result === 'undelivered')
      return { state: markUndelivered(state, context.at), send: state.desired !== inFlight.value }
    const acknowledged = inFlight.isOvertaken ? undefined : inFlight.value
    return { state: { ...state, acknowledged, inFlight: undefined }, send: true }
  }
  return isUnconfirmed(unlessExpired(state.unconfirmed, context.at), versionsBehind)
    ? onLateOutcome(state, outcome, versionsBehind)
    : undefined
}

/**
 * Handles the late result of an unconfirmed change. Even after `undelivered`, the change may have
 * reached the destination and replaced a newer value.
 */
function onLateOutcome(before: Membership, { value, result }: Outcome, versionsBehind: number): Transition {
  // Only `delivered` confirms the change: the destination then ignores further messages of the
  // change, because they have the same message id. After `undelivered`, a further message can still
  // be delivered.
  const state =
    result === 'delivered' ? { ...before, unconfirmed: confirm(before.unconfirmed, versionsBehind) } : before
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

function applied(before: Membership | undefined, { state, send }: Transition, context: StepContext): Step {
  const { position, now } = context
  if (send && context.isConnected && state.inFlight === undefined && state.desired !== state.acknowledged) {
    const update = { value: state.desired, version: state.version + 1 }
    const inFlight = { value: state.desired, since: now, isOvertaken: false }
    return {
      kind: 'changed',
      state: { ...state, version: update.version, inFlight, unconfirmed: shiftBy(state.unconfirmed, 1), position },
      update,
    }
  }
  if (isForgettable(state, context)) return before === undefined ? unchanged : removed
  return state === before ? unchanged : { kind: 'changed', state: { ...state, position }, update: undefined }
}

/**
 * Whether a membership can be removed without losing information: the user is absent or the
 * destination removed, and the watermark covers `syncId` and `version`.
 */
function isForgettable(state: Membership, context: StepContext): boolean {
  const { syncId, version } = state
  const { closedUpTo, versionFloor } = context.watermark
  const isUnneeded = isAbsent(state, context) || isOfRemovedDestination(state, context)
  return isUnneeded && syncId <= closedUpTo && version <= versionFloor
}

function isAbsent({ desired, acknowledged, inFlight, unconfirmed }: Membership, { absent, at }: StepContext): boolean {
  const isKnown = inFlight === undefined && unlessExpired(unconfirmed, at) === undefined
  return isKnown && desired === absent && acknowledged === absent
}

/**
 * Whether the destination was removed, and `watermark.closedUpTo` is at least a day later than
 * `syncId`. Within this day, an operator may revert the removal. A new destination also seems
 * removed to a process that does not know its configuration yet.
 */
const isOfRemovedDestination = ({ syncId }: Membership, { isRemoved, watermark }: StepContext): boolean =>
  isRemoved && isDayBefore(syncId, watermark.closedUpTo)
