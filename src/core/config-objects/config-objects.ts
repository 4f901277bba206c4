import type { SettingsProblem } from '../settings/problem.ts'
import type { AutomaticDisabling } from '../settings/settings.ts'
import type { EpochMs } from '../time.ts'

/*
 * The port of the configuration objects: destinations and sources that operators change through the
 * API while the processes run. The objects are on the config topic; the configuration file has
 * further ones, which the API only shows.
 */

export const objectKinds = ['destination', 'source'] as const
export type ObjectKind = (typeof objectKinds)[number]

/**
 * One entry of `destinations` or `sources`, as in the configuration file and with its `id`, but
 * without names of files and without environment variables. The value is JSON.
 */
export type ObjectDocument = Readonly<Record<string, unknown>>

/** `used`: the object is in force. `excluded`: it is not, see `problems`. */
export type ObjectState = 'used' | 'excluded'

export interface ConfigObject {
  readonly kind: ObjectKind
  readonly id: string
  /** `file`: from the configuration file, read-only. `api`: from the config topic. */
  readonly origin: 'file' | 'api'
  /** Increases by 1 with each change; 0 for an object of the file. */
  readonly version: number
  /** The name of the operator key; `undefined` for an object of the file. */
  readonly changedBy: string | undefined
  /** `undefined` for an object of the file. */
  readonly changedAt: EpochMs | undefined
  readonly state: ObjectState
  /** Why the object is excluded; empty when it is used. Paths are relative to the document. */
  readonly problems: readonly SettingsProblem[]
  /** Whether the config topic has an object of this kind and id that the file's object hides. */
  readonly isConflict: boolean
  /** Set when Hookline has disabled the destination. The document still says that it is enabled. */
  readonly disabledAutomatically?: AutomaticDisabling | undefined
  /** The document with every secret masked (`mask.ts`). Computed at the first access. */
  readonly document: ObjectDocument
  /**
   * For each masked secret of at least 16 characters, the first 8 hex digits of its SHA-256, by
   * formatted path, for example `webhooks[0].headers.Authorization`.
   */
  readonly fingerprints: Readonly<Record<string, string>>
}

/** The version that the caller has seen. `any`: the change applies to every version. */
export type Expected =
  | { readonly kind: 'version'; readonly version: number }
  | { readonly kind: 'absent' }
  | { readonly kind: 'any' }

export interface ChangeRequest {
  readonly kind: ObjectKind
  readonly id: string
  readonly expected: Expected
  /**
   * Gets the current document with its secrets in plain text (`undefined` when there is no such
   * object) and returns the next one; `undefined` deletes the object. A value that is still masked
   * keeps the current secret. The function may be called again when another writer was faster, so
   * it must have no side effect.
   */
  readonly next: (current: ObjectDocument | undefined) => ObjectDocument | undefined
  /** The name of the operator key. */
  readonly by: string
  /** Whether the change is only checked, and not written. */
  readonly dryRun?: boolean
}

export type ChangeOutcome =
  | {
      readonly kind: 'changed'
      /** The object after the change; `undefined` when it was deleted. */
      readonly object: ConfigObject | undefined
      readonly created: boolean
      /** Formatted paths of the changed fields, sorted. */
      readonly changedFields: readonly string[]
    }
  /** The change of a dry run is possible. Nothing was written. */
  | { readonly kind: 'possible'; readonly created: boolean; readonly changedFields: readonly string[] }
  /** The next document equals the current one. Nothing was written. */
  | { readonly kind: 'unchanged'; readonly object: ConfigObject }
  /** Another version is in force: `version`, or `undefined` when there is no such object. */
  | { readonly kind: 'conflict'; readonly version: number | undefined }
  /** There is no such object, and `next` returned `undefined`. */
  | { readonly kind: 'not_found' }
  /** The configuration file has an object of this kind and id. */
  | { readonly kind: 'defined_in_file' }
  /** The next document is not valid. Paths are relative to the document. */
  | { readonly kind: 'refused'; readonly problems: readonly SettingsProblem[] }
  /** `operator.encryptionKeyFile` is not set, so there is no config topic. */
  | { readonly kind: 'disabled' }
  /** Kafka refused the change or did not confirm it within 10 s. It may be in force nevertheless. */
  | { readonly kind: 'unavailable'; readonly detail: string }

/** One change of an object. It never has values. */
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

export interface ConfigObjects {
  /** All objects of a kind, of the file and of the config topic, sorted by id. */
  list(kind: ObjectKind): readonly ConfigObject[]
  get(kind: ObjectKind, id: string): ConfigObject | undefined
  /**
   * Replaces, creates or deletes one object. Resolves with `changed` when all in-sync replicas have
   * the change and this process has read it back as the winner of its version. Never rejects.
   */
  change(request: ChangeRequest): Promise<ChangeOutcome>
  /**
   * Ends the automatic disabling of a destination, of the file or of the config topic. `unchanged`
   * when Hookline has not disabled it. Never rejects.
   */
  enableAgain(destination: string, by: string): Promise<ChangeOutcome>
  /**
   * The last changes at or after `since`, newest first, at most 1,000. Compaction removes older
   * changes from the config topic.
   */
  changes(since?: EpochMs): readonly ObjectChange[]
}
