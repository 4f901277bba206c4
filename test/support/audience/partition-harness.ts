import { AudiencePartition } from '../../../src/core/audience/audience-partition.ts'
import type { SyncMode } from '../../../src/core/audience/audience-watermark.ts'
import { type AudienceDirectory, audienceDirectory } from '../../../src/core/audience/configured-audiences.ts'
import type { AudienceInput, LostInput } from '../../../src/core/audience/input.ts'
import type { InputEffect } from '../../../src/core/audience/input-effect-types.ts'
import type { MembershipRecord } from '../../../src/core/audience/membership-and-watermark-records.ts'
import type { Restored } from '../../../src/core/audience/partition-memberships-and-watermarks.ts'
import { syncId } from '../../../src/core/audience/sync-id.ts'
import { SuppressionIndex } from '../../../src/core/deletion/suppressions.ts'
import type { JsonText } from '../../../src/core/message/canonical-json-text.ts'
import { epochMs } from '../../../src/core/time.ts'
import { destinationOf, start } from '../builders.ts'

export const audience = 'First time shopper'

export const directoryWith = (destinations: readonly string[]): AudienceDirectory =>
  audienceDirectory({
    audiences: { emitPerSecond: 1, list: [{ name: audience, kind: 'audience', destinations: [...destinations] }] },
    destinations: ['crm', 'erp'].map(id => destinationOf({ id })),
  })

/** Id of a sync that began this many minutes after the start of the test. */
export const sync = (minutes: number) => syncId((start + minutes * 60_000) * 1024)

export const observed = (userId: string, minutes: number, value = 'true', mode: SyncMode = 'full'): AudienceInput => ({
  kind: 'observed',
  audience,
  userId,
  value: value as JsonText,
  syncId: sync(minutes),
  mode,
})

export const ended = (minutes: number, mode: SyncMode = 'full'): AudienceInput => ({
  kind: 'sync_ended',
  audience,
  syncId: sync(minutes),
  mode,
})

export const outcome = (userId: string, version: number, value = 'true'): AudienceInput => ({
  kind: 'outcome',
  audience,
  userId,
  destination: 'crm',
  version,
  value: value as JsonText,
  result: 'delivered',
})

export class PartitionHarness {
  directory = directoryWith(['crm', 'erp'])
  readonly marks = new SuppressionIndex()
  now = start
  position = 0
  partition: AudiencePartition

  constructor() {
    this.partition = this.created()
  }

  /** `inputEnd` is the end offset of the inputs topic. */
  created(inputEnd = 1_000): AudiencePartition {
    return new AudiencePartition({
      directory: () => this.directory,
      stops: about => this.marks.stops(about, this.now),
      inputEnd,
    })
  }

  /**
   * Restores a record of the memberships topic. A tombstone needs `position`, the offset of the
   * input that caused it.
   */
  restore(key: string, value: MembershipRecord | undefined, position = value?.position): Restored {
    return this.partition.records.restore({ key, value, position })
  }

  /**
   * Processes an input, and returns its changes as text. For example, `watermark 20 7` is a
   * watermark with `closedUpTo` at minute 20 and `versionFloor` at `sync(0)` + 7.
   */
  apply(input: AudienceInput | LostInput, minutes = 1): readonly string[] {
    this.now = epochMs(this.now + minutes * 60_000)
    return this.changes(input).map(shown)
  }

  changes(input: AudienceInput | LostInput): readonly InputEffect[] {
    return [...this.partition.applyInput(input, { position: this.position++, at: this.now, now: () => this.now })]
  }
}

function shown(change: InputEffect): string {
  if (change.kind === 'ignored') return change.reason
  if (change.kind === 'visited') return change.kind
  if (change.kind === 'watermark') {
    const closedUpTo = (change.watermark.closedUpTo - sync(0)) / (sync(1) - sync(0))
    return `watermark ${closedUpTo} ${change.watermark.versionFloor - sync(0)}`
  }
  const { userId, destination } = change.key
  const after = change.state === undefined ? 'gone' : change.state.desired
  return [userId, destination, after, change.identify?.message.traits].filter(Boolean).join(' ')
}
