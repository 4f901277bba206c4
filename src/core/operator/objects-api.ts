import type { ConfigObject, ObjectKind, RecentChangeList } from '../config-objects/config-objects.ts'
import type { JsonObject } from '../message/json.ts'
import type { DurationMs, EpochMs } from '../time.ts'
import type { Precondition } from './etag-precondition.ts'
import type { DestinationStatus, InstallationStatus } from './installation-and-destination-status.ts'
import type { MessagePreviewed } from './message-preview.ts'
import type { ObjectRefusal } from './object-refusal.ts'
import type { ObjectPage, ObjectQuery } from './query-parameters-and-object-page.ts'
import type { TestResult } from './test-message.ts'

/** Which object a change is about, who makes it, and under which condition it applies. */
export interface ObjectTarget {
  readonly kind: ObjectKind
  readonly id: string
  /** Name of the operator key with which the change is requested. */
  readonly by: string
  readonly precondition: Precondition
  /** Whether the change is only checked, and not written. */
  readonly dryRun?: boolean
}

export interface ObjectChanged {
  readonly kind: 'changed'
  /** The object after the change; `undefined` after a deletion or a dry run. */
  readonly object: ConfigObject | undefined
  readonly isDryRun?: true
  readonly created: boolean
  /** Formatted paths of the changed fields. */
  readonly fields: readonly string[]
}

/** The new secret of a rotation, which is shown only once. */
export interface Rotated extends ObjectChanged {
  readonly secret: string
  /**
   * When the new secret replaces the old one. `undefined` for an immediate replacement or a write
   * key.
   */
  readonly until?: EpochMs | undefined
  /** The number of write keys that are valid now; `undefined` for a shared secret. */
  readonly keys?: number | undefined
}

/** Actions that change the state of a destination, each a request without a body. */
export const switches = ['pause', 'resume', 'enable', 'disable'] as const
export type Switch = (typeof switches)[number]

export interface ObjectsApi {
  list(kind: ObjectKind, query: ObjectQuery): ObjectPage
  get(kind: ObjectKind, id: string): ConfigObject | ObjectRefusal
  replace(target: ObjectTarget, document: JsonObject): Promise<ObjectChanged | ObjectRefusal>
  /** Applies a JSON Merge Patch (RFC 7396) to the object. */
  patch(target: ObjectTarget, patch: JsonObject): Promise<ObjectChanged | ObjectRefusal>
  delete(target: ObjectTarget): Promise<ObjectChanged | ObjectRefusal>
  switch(target: ObjectTarget, to: Switch): Promise<ObjectChanged | ObjectRefusal>
  rotateSecret(target: ObjectTarget, overlap: DurationMs): Promise<Rotated | ObjectRefusal>
  /** @param keep how many earlier keys stay valid; `undefined` keeps all */
  rotateKey(target: ObjectTarget, keep: number | undefined): Promise<Rotated | ObjectRefusal>
  /** Sends a test message to each webhook of a destination immediately. */
  test(id: string): Promise<TestResult | ObjectRefusal>
  /** Previews the requests of a destination for a message, and sends none. */
  preview(id: string, body: JsonObject): MessagePreviewed | ObjectRefusal
  changes(since: EpochMs | undefined): RecentChangeList
  status(): Promise<InstallationStatus>
  destinationStatus(id: string): Promise<DestinationStatus | ObjectRefusal>
}
