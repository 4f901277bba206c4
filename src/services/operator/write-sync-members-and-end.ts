import type { SyncMode } from '../../core/audience/audience-watermark.ts'
import type { Audience } from '../../core/audience/configured-audiences.ts'
import type { AudienceInput } from '../../core/audience/input.ts'
import { createMemberReader } from '../../core/audience/parse-member-line.ts'
import type { SyncId } from '../../core/audience/sync-id.ts'
import type { LogProducer, RecordHeaders } from '../../core/ports.ts'
import { BoundedAppender } from './limit-unacknowledged-records.ts'

export interface SyncDeps {
  readonly producer: LogProducer
  /** The audience-input topic. */
  readonly topic: string
  readonly partitions: () => Promise<number>
  readonly encodeInput: (input: AudienceInput) => Buffer
  /** Headers of every record of the sync, for example trace headers. */
  readonly headers?: RecordHeaders | undefined
}

export interface SyncOptions {
  readonly audience: Pick<Audience, 'name' | 'kind'>
  readonly mode: SyncMode
  readonly syncId: SyncId
  /** Whether an empty full sync is accepted. It removes all members, and is usually a mistake. */
  readonly allowEmpty: boolean
  /** When aborted, the sync is interrupted and its end is not written. */
  readonly signal: AbortSignal
  readonly onProgress?: (received: number) => void
}

export interface SyncReport {
  readonly syncId: SyncId
  /** Number of lines with a member. If `end` is `ended`, Kafka has stored all of them. */
  readonly received: number
  readonly end: SyncEnd
}

/**
 * How a sync ended. Received lines are always applied, but members without a line are removed only
 * after `ended`.
 */
export type SyncEnd =
  | { readonly kind: 'ended' }
  /** A line is wrong; `message` says which and how. */
  | { readonly kind: 'refused'; readonly message: string }
  | { readonly kind: 'empty' }
  | { readonly kind: 'interrupted' }

/**
 * Writes an observation for each member. When Kafka has stored all observations, writes the end of
 * the sync to every partition. A full sync removes members only in partitions that have its end.
 */
export async function writeSync(
  deps: SyncDeps,
  lines: AsyncIterable<readonly (string | undefined)[]>,
  options: SyncOptions,
): Promise<SyncReport> {
  const { audience, mode, syncId, allowEmpty, signal } = options
  const writing = { appending: new BoundedAppender(deps.producer), received: 0 }
  const reportOf = (end: SyncEnd): SyncReport => ({ syncId, received: writing.received, end })
  try {
    const refused = await observe(deps, lines, options, writing)
    if (refused !== undefined) return reportOf(refused)
    if (writing.received === 0 && mode === 'full' && !allowEmpty) return reportOf({ kind: 'empty' })
    await writing.appending.ended()
    signal.throwIfAborted()
  } catch (error) {
    if (signal.aborted) return reportOf({ kind: 'interrupted' })
    throw error
  }
  await toEveryPartition(deps, { kind: 'sync_ended', audience: audience.name, syncId, mode })
  return reportOf({ kind: 'ended' })
}

/** Writes an observation for each line. Resolves with `undefined` when every line is valid. */
async function observe(
  { topic, encodeInput, headers = {} }: SyncDeps,
  lines: AsyncIterable<readonly (string | undefined)[]>,
  { audience: { name: audience, kind }, mode, syncId, signal, onProgress }: SyncOptions,
  writing: { readonly appending: BoundedAppender; received: number },
): Promise<Extract<SyncEnd, { kind: 'refused' }> | undefined> {
  const readLine = createMemberReader(kind)
  for await (const some of lines) {
    for (const line of some) {
      const member = readLine(line)
      if (member.kind === 'refused') return member
      if (member.kind === 'nothing') continue
      await writing.appending.room()
      signal.throwIfAborted()
      const { userId, value } = member
      const input = encodeInput({ kind: 'observed', audience, userId, value, syncId, mode })
      writing.appending.add(topic, { key: Buffer.from(userId), value: input, headers })
      writing.received++
    }
    onProgress?.(writing.received)
  }
  return undefined
}

/**
 * Writes an input about a whole audience to every partition. Resolves when all in-sync replicas
 * have it.
 */
export async function toEveryPartition(
  { producer, topic, partitions, encodeInput, headers = {} }: SyncDeps,
  input: AudienceInput,
): Promise<void> {
  const appending = new BoundedAppender(producer)
  const value = encodeInput(input)
  for (let partition = (await partitions()) - 1; partition >= 0; partition--)
    appending.add(topic, { key: null, value, headers, partition })
  await appending.ended()
}
