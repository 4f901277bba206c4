import type { ChangeResult } from '../message/own-event.ts'
import { assertNever, type DurationMs, type EpochMs, type JsonText } from '../units.ts'
import { type AudienceMark, isDayBefore, notAhead, type SyncId, syncId, versionAt } from './sync.ts'
import {
  confirm,
  isUnconfirmed,
  markUnconfirmed,
  shiftBy,
  type UnconfirmedChanges,
  unlessExpired,
} from './unconfirmed-changes.ts'

/**
 * What is known of one user in one audience at one destination. Nobody is kept of whom there is nothing to know: no state is the same as
 * the absent value (`false`, for a trait `null`), wanted and acknowledged.
 */
export interface Membership {
  /** What the newest sync that named the user says, or the absent value when a full one did not name them. */
  readonly desired: JsonText
  /** What the destination has; undefined: nobody knows, which differs from every value. */
  readonly acknowledged: JsonText | undefined
  /** The change that is under way. While there is one, nothing else is sent: a retry never overtakes. */
  readonly inFlight: ChangeInFlight | undefined
  /** Of the last change. The next one has one more. */
  readonly version: number
  /** The newest sync that named the user. */
  readonly syncId: SyncId
  readonly doubt: UnconfirmedChanges | undefined
  /** Offset of the last input that changed this: what is read again after a crash, up to here, changes nothing. */
  readonly position: number
}

export interface ChangeInFlight {
  readonly value: JsonText
  /** When it was sent. */
  readonly since: EpochMs
  /** An older change with another value arrived meanwhile, before or after this one, or a reset: that this one arrived proves nothing. */
  readonly isOvertaken: boolean
}

/** What can happen to one membership. */
export type MembershipInput =
  | { readonly kind: 'observed'; readonly syncId: SyncId; readonly value: JsonText }
  /** A full one: who was last named before it is not in the audience any more. */
  | { readonly kind: 'sync_ended'; readonly syncId: SyncId }
  | { readonly kind: 'outcome'; readonly version: number; readonly value: JsonText; readonly result: ChangeResult }
  /** A change that was given up is to be replayed: the current value goes out instead, if it still differs. */
  | { readonly kind: 'resend' }
  /** The destination has lost what it had: the next sync sends everything. */
  | { readonly kind: 'reset' }
  /** The audience's mark remembers more: who need not be kept any more is not. */
  | { readonly kind: 'swept' }
  /** The user was deleted. */
  | { readonly kind: 'forgotten' }

export interface StepContext {
  /** Offset of the input in its partition, and when it was appended. */
  readonly position: number
  readonly at: EpochMs
  /** By the clock on the wall, for the change that is sent now. */
  readonly now: EpochMs
  readonly absent: JsonText
  readonly mark: AudienceMark
  /** Whether the destination gets this audience, as configured now; if not, nothing is sent to it. */
  readonly isConnected: boolean
  /** Whether the configuration does not have the destination. */
  readonly isRemoved: boolean
  /** So long after it was sent a change counts as undelivered when nothing was heard of it. */
  readonly expiry: DurationMs
}

/** An identify to be sent. The version is a new one for each change, and the same when the same input is taken again. */
export interface Emission {
  readonly value: JsonText
  readonly version: number
}

export type Step =
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'changed'; readonly state: Membership; readonly emit: Emission | undefined }
  /** The state becomes a tombstone. */
  | { readonly kind: 'removed' }

const unchanged: Step = { kind: 'unchanged' }
const removed: Step = { kind: 'removed' }

/** Where an input leads, before anything is sent. `send`: what is wanted goes out now, if it differs from what the destination has. */
interface Transition {
  readonly state: Membership
  readonly send: boolean
}

/**
 * The one rule of memberships. A pure function of the inputs in their order, so that every process that takes the same inputs comes to the
 * same states and sends the same changes under the same versions.
 */
export function step(state: Membership | undefined, input: MembershipInput, on: StepContext): Step {
  if (state !== undefined && on.position <= state.position) return unchanged
  if (input.kind === 'forgotten') return state === undefined ? unchanged : removed
  const course = state === undefined ? onFirstInput(input, on) : transitionOf(state, input, on)
  return course === undefined ? unchanged : carriedOut(state, course, on)
}

/** Nobody is known to have anything yet. */
function onFirstInput(input: MembershipInput, { absent, mark, at }: StepContext): Transition | undefined {
  if (input.kind === 'observed') {
    const { value, syncId: named } = input
    const version = Math.max(versionAt(at), mark.floor + 1)
    return { state: { ...nobody(absent, version), desired: value, syncId: named }, send: true }
  }
  // Of a version beyond the floor no key was forgotten: this one was sent, but its state never written, because its destination was
  // taken off the audience's list just when a process crashed. The next sync puts right what the destination has.
  if (input.kind === 'outcome' && input.version > mark.floor)
    return adoptUnknownChange(nobody(absent, mark.floor), input, at)
  return undefined
}

const nobody = (absent: JsonText, version: number): Membership => ({
  desired: absent,
  acknowledged: absent,
  inFlight: undefined,
  version,
  syncId: syncId(0),
  doubt: undefined,
  position: -1,
})

type Outcome = Extract<MembershipInput, { kind: 'outcome' }>

function transitionOf(state: Membership, input: MembershipInput, on: StepContext): Transition | undefined {
  switch (input.kind) {
    case 'observed': {
      const { syncId: named, value } = input
      // Said by an older sync, or again by the same: nothing new, also where the change that it made was given up since.
      if (named < state.syncId || (named === state.syncId && value === state.desired)) return undefined
      return { state: { ...lapsed(state, on), desired: value, syncId: named }, send: true }
    }
    case 'sync_ended': {
      if (input.syncId <= state.syncId || !on.isConnected) return { state, send: false }
      const still = lapsed(state, on)
      return { state: still.desired === on.absent ? still : { ...still, desired: on.absent }, send: true }
    }
    case 'outcome':
      return reported(state, input, on)
    case 'resend':
      return { state: lapsed(state, on), send: true }
    case 'reset':
      return { state: withoutAhead(unknown(state), on.at), send: false }
    case 'swept':
      return { state, send: false }
    case 'forgotten':
      return undefined
    default:
      return assertNever(input)
  }
}

/** A change of which nothing was heard for too long counts as undelivered. */
function lapsed(state: Membership, { at, expiry }: StepContext): Membership {
  return state.inFlight === undefined || at - state.inFlight.since <= expiry ? state : undelivered(state, at)
}

const undelivered = (state: Membership, at: EpochMs): Membership => ({
  ...state,
  acknowledged: undefined,
  inFlight: undefined,
  doubt: markUnconfirmed(unlessExpired(state.doubt, at), at),
})

/** What the destination has is not known any more; nor will the change tell that is under way. */
function unknown(state: Membership): Membership {
  const { acknowledged, inFlight } = state
  if (acknowledged === undefined && (inFlight === undefined || inFlight.isOvertaken)) return state
  return { ...state, acknowledged: undefined, inFlight: inFlight && { ...inFlight, isOvertaken: true } }
}

/** A sync that began by a clock that was ahead hides all that are newer until then. */
function withoutAhead(state: Membership, at: EpochMs): Membership {
  const named = notAhead(state.syncId, at)
  return named === state.syncId ? state : { ...state, syncId: named }
}

function reported(state: Membership, outcome: Outcome, on: StepContext): Transition | undefined {
  const age = state.version - outcome.version
  if (age < 0) return adoptUnknownChange(state, outcome, on.at)
  const { inFlight } = state
  const sent = inFlight === undefined ? state.acknowledged : inFlight.value
  // The last change, but with another value: sent by a process that crashed before the destination was put on the audience's list.
  if (age === 0 && sent !== undefined && sent !== outcome.value)
    return outcome.result === 'delivered' ? { state: unknown(state), send: true } : undefined
  if (age === 0 && inFlight !== undefined) {
    // What is wanted meanwhile has not been tried yet and goes out now. The same value waits for the next sync.
    if (outcome.result === 'undelivered')
      return { state: undelivered(state, on.at), send: state.desired !== inFlight.value }
    const acknowledged = inFlight.isOvertaken ? undefined : inFlight.value
    return { state: { ...state, acknowledged, inFlight: undefined }, send: true }
  }
  return isUnconfirmed(unlessExpired(state.doubt, on.at), age) ? onLateOutcome(state, outcome, age) : undefined
}

/**
 * A copy of a change that was in doubt has come to its end only now. It has arrived, or it may have (a time-out does not tell), nobody knows
 * when: before the changes after it, or over them.
 */
function onLateOutcome(before: Membership, { value, result }: Outcome, age: number): Transition {
  // The destination drops all further copies of what it has. Of what was given up once more there may be others.
  const state = result === 'delivered' ? { ...before, doubt: confirm(before.doubt, age) } : before
  const { acknowledged, inFlight } = state
  if (inFlight !== undefined) return { state: value === inFlight.value ? state : unknown(state), send: false }
  // Unknown already, and it stays so: reports do not come in the order of arrivals, so that even the last change proves nothing.
  if (acknowledged === undefined || acknowledged === value) return { state, send: false }
  return { state: unknown(state), send: true }
}

/** A change that the state does not know of was sent all the same. */
function adoptUnknownChange(before: Membership, { version, value, result }: Outcome, at: EpochMs): Transition {
  const state = before.inFlight === undefined ? before : undelivered(before, at)
  const known = { ...state, version, doubt: shiftBy(unlessExpired(state.doubt, at), version - state.version) }
  return { state: result === 'delivered' ? { ...known, acknowledged: value } : undelivered(known, at), send: false }
}

function carriedOut(before: Membership | undefined, { state, send }: Transition, on: StepContext): Step {
  const { position, now } = on
  if (send && on.isConnected && state.inFlight === undefined && state.desired !== state.acknowledged) {
    const emit = { value: state.desired, version: state.version + 1 }
    const inFlight = { value: state.desired, since: now, isOvertaken: false }
    return {
      kind: 'changed',
      state: { ...state, version: emit.version, inFlight, doubt: shiftBy(state.doubt, 1), position },
      emit,
    }
  }
  if (isForgettable(state, on)) return before === undefined ? unchanged : removed
  return state === before ? unchanged : { kind: 'changed', state: { ...state, position }, emit: undefined }
}

/**
 * Only what the destination acknowledged is forgotten, or what it had before it was removed, and
 * only when the audience's mark remembers enough: that no sync may still speak that is older than
 * the one that named the user last, and that no version comes twice.
 */
function isForgettable(state: Membership, on: StepContext): boolean {
  const { syncId, version } = state
  const { closed, floor } = on.mark
  return (isAbsent(state, on) || isLeft(state, on)) && syncId <= closed && version <= floor
}

function isAbsent({ desired, acknowledged, inFlight, doubt }: Membership, { absent, at }: StepContext): boolean {
  const isKnown = inFlight === undefined && unlessExpired(doubt, at) === undefined
  return isKnown && desired === absent && acknowledged === absent
}

/**
 * Of a destination that was removed. A process that does not know a new one yet, or a configuration
 * that is taken back at once, ends nothing.
 */
const isLeft = ({ syncId }: Membership, { isRemoved, mark }: StepContext): boolean =>
  isRemoved && isDayBefore(syncId, mark.closed)
