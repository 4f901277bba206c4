import type { AutomaticDisabling } from '../settings/settings.ts'
import type { SettingsProblem } from '../settings/settings-problem.ts'
import type { EpochMs } from '../time.ts'

/*
 * The configuration objects: destinations and sources that operators change through the operator
 * API, and those of the configuration file, which the API cannot change.
 */

export const objectKinds = ['destination', 'source'] as const
export type ObjectKind = (typeof objectKinds)[number]

/**
 * One entry of `destinations` or `sources`, with the contents of files and environment variables
 * instead of their names.
 */
export type ObjectDocument = Readonly<Record<string, unknown>>

/**
 * `used`: the processes use the object. `excluded`: they do not use it; `problems` has the reasons.
 */
export type ObjectState = 'used' | 'excluded'

export interface ConfigObject {
  readonly kind: ObjectKind
  readonly id: string
  /** `file`: from the configuration file, read-only. `api`: from the config topic. */
  readonly origin: 'file' | 'api'
  /** Increases by 1 with each change; 0 for an object of the file. */
  readonly version: number
  /** The name of the operator key of the last change; `undefined` for an object of the file. */
  readonly changedBy: string | undefined
  /** When the last change was made; `undefined` for an object of the file. */
  readonly changedAt: EpochMs | undefined
  readonly state: ObjectState
  /** Why the object is excluded; empty when it is used. Paths are relative to the document. */
  readonly problems: readonly SettingsProblem[]
  /**
   * Whether the config topic also has this object. The object of the configuration file has
   * precedence.
   */
  readonly isConflict: boolean
  /**
   * Set when Hookline, and not an operator, has disabled the destination. The document still says
   * that the destination is enabled.
   */
  readonly disabledAutomatically?: AutomaticDisabling | undefined
  /** The document with every secret masked (`mask.ts`). Computed at the first access. */
  readonly document: ObjectDocument
  /**
   * The first 8 hex digits of the SHA-256 of each masked secret of at least 16 characters, by
   * formatted path.
   */
  readonly fingerprints: Readonly<Record<string, string>>
}

/** The version that the object must have for the change to apply. */
export type Expected =
  | { readonly kind: 'version'; readonly version: number }
  | { readonly kind: 'absent' }
  | { readonly kind: 'any' }

interface Requested {
  readonly kind: ObjectKind
  readonly id: string
  /** The name of the operator key with which the change is requested. */
  readonly by: string
  /** Whether the change is only checked, and not written. */
  readonly dryRun?: boolean
}

/** The request to replace, create or delete an object. */
export interface DocumentRequest extends Requested {
  readonly isRenewal?: false
  readonly expected: Expected
  /**
   * Returns the document after the change; `undefined` deletes the object. A masked value keeps the
   * secret of `current`, whose secrets are in plain text. Must have no side effect, because it may
   * be called several times.
   */
  readonly next: (current: ObjectDocument | undefined) => ObjectDocument | undefined
}

interface RenewalRequest extends Requested {
  readonly isRenewal: true
}

export type ChangeRequest = DocumentRequest | RenewalRequest

export type ChangeOutcome =
  | {
      readonly kind: 'changed'
      /** The object after the change; `undefined` when it was deleted. */
      readonly object: ConfigObject | undefined
      readonly created: boolean
      /** Formatted paths of the changed fields, sorted. */
      readonly changedFields: readonly string[]
    }
  /** A dry run found that the change is possible. Nothing was written. */
  | { readonly kind: 'possible'; readonly created: boolean; readonly changedFields: readonly string[] }
  /** The document that `next` returned equals the current one. Nothing was written. */
  | { readonly kind: 'unchanged'; readonly object: ConfigObject }
  /**
   * The object does not have the expected version. `version` is its version; `undefined` when the
   * object does not exist.
   */
  | { readonly kind: 'conflict'; readonly version: number | undefined }
  /** The object does not exist, and `next` returned `undefined` to delete it. */
  | { readonly kind: 'not_found' }
  /** The configuration file has an object of this kind and id. */
  | { readonly kind: 'defined_in_file' }
  /** The document that `next` returned is not valid. Paths are relative to the document. */
  | { readonly kind: 'refused'; readonly problems: readonly SettingsProblem[] }
  /** `operator.encryptionKeyFile` is not set, so no config topic exists. */
  | { readonly kind: 'disabled' }
  /**
   * Kafka refused the change, or did not confirm it within 10 s. An unconfirmed change may still
   * have been made.
   */
  | { readonly kind: 'unavailable'; readonly detail: string }

/** One change of an object, with the names of the changed fields, and never their values. */
export interface ObjectChange {
  readonly kind: ObjectKind
  readonly id: string
  readonly version: number
  readonly action: 'created' | 'updated' | 'deleted'
  readonly by: string
  readonly at: EpochMs
  /** Formatted paths of the changed fields, sorted. */
  readonly fields: readonly string[]
}

/** The last changes of objects. */
export interface RecentChangeList {
  /** The last changes, newest first; at most 1,000. */
  readonly changes: readonly ObjectChange[]
  /** Whether there were older changes, which `changes` does not have. */
  readonly isPartial: boolean
}

export interface ConfigObjects {
  /** All objects of a kind, of the file and of the config topic, sorted by id. */
  list(kind: ObjectKind): readonly ConfigObject[]
  get(kind: ObjectKind, id: string): ConfigObject | undefined
  /**
   * Resolves with `changed` when all in-sync replicas have the change, and this process has read it
   * as the current version. Never rejects.
   */
  change(request: ChangeRequest): Promise<ChangeOutcome>
  /**
   * Enables a destination that Hookline has disabled. Resolves with `unchanged` when Hookline has
   * not disabled it. Never rejects.
   */
  enableAgain(destination: string, by: string): Promise<ChangeOutcome>
  /**
   * The last changes at or after `since`. Re-encryptions of secrets, and changes that compaction
   * removed before this process started, are missing.
   */
  changes(since?: EpochMs): RecentChangeList
}
