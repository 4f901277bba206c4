import type { ConfigObject, ObjectChange, ObjectDocument } from '../config-objects/config-objects.ts'
import { toIsoTimestamp } from '../message/timestamp.ts'
import type { AutomaticDisabling } from '../settings/settings.ts'
import { type ShownProblem, shownProblems } from './object-refusal.ts'

/** `excluded`: not in force, because the destination's document has problems. */
export const destinationStates = ['enabled', 'paused', 'disabled', 'excluded'] as const
export type DestinationState = (typeof destinationStates)[number]

/** A configuration object as the operator API shows it. */
export interface ObjectView {
  readonly id: string
  readonly kind: ConfigObject['kind']
  readonly origin: ConfigObject['origin']
  readonly version: number
  /** A source is `enabled` or `excluded`. */
  readonly state: DestinationState
  /**
   * Whether the configuration file and the config topic both have this id. The object in the file
   * is then in force.
   */
  readonly conflict: boolean
  readonly changedBy?: string | undefined
  /** When the object was last changed; ISO 8601, UTC. */
  readonly changedAt?: string | undefined
  readonly problems: readonly ShownProblem[]
  /** Set when Hookline has disabled the destination. The document still says that it is enabled. */
  readonly disabledAutomatically?: DisablingView | undefined
  /** The document with every secret masked. */
  readonly document: ObjectDocument
  readonly fingerprints: Readonly<Record<string, string>>
}

type Stated = Pick<ConfigObject, 'state' | 'document' | 'disabledAutomatically'>

export function stateOf({ state, document, disabledAutomatically }: Stated): DestinationState {
  if (state === 'excluded') return 'excluded'
  if (document['enabled'] === false || disabledAutomatically !== undefined) return 'disabled'
  return document['paused'] === true ? 'paused' : 'enabled'
}

export const viewOf = (object: ConfigObject): ObjectView => ({
  id: object.id,
  kind: object.kind,
  origin: object.origin,
  version: object.version,
  state: stateOf(object),
  conflict: object.isConflict,
  changedBy: object.changedBy,
  changedAt: object.changedAt === undefined ? undefined : toIsoTimestamp(object.changedAt),
  problems: shownProblems(object.problems),
  disabledAutomatically: disablingViewOf(object.disabledAutomatically),
  document: object.document,
  fingerprints: object.fingerprints,
})

export interface DisablingView {
  readonly at: string
  readonly reason: AutomaticDisabling['reason']
  readonly failingSince: string
}

export const disablingViewOf = (disabling: AutomaticDisabling | undefined): DisablingView | undefined =>
  disabling && {
    at: toIsoTimestamp(disabling.at),
    reason: disabling.reason,
    failingSince: toIsoTimestamp(disabling.failingSince),
  }

export const changeViewOf = ({ at, ...change }: ObjectChange) => ({ ...change, at: toIsoTimestamp(at) })
