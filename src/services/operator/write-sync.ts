import type { Audience } from '../../core/audience/directory.ts'
import type { AudienceInput } from '../../core/audience/input.ts'
import { createMemberReader } from '../../core/audience/member-line.ts'
import type { SyncId, SyncMode } from '../../core/audience/sync.ts'
import type { LogProducer, RecordHeaders } from '../../core/ports.ts'
import { Appending } from './append-bound.ts'

export interface SyncDeps {
  readonly producer: LogProducer
  /** The audience-input topic. */
  readonly topic: string
  readonly partitions: () => Promise<number>
  readonly encodeInput: (input: AudienceInput) => Buffer
  /** Of every record. */
  readonly headers?: RecordHeaders | undefined
}

export interface SyncOptions {
  readonly audience: Pick<Audience, 'name' | 'kind'>
  readonly mode: SyncMode
  readonly syncId: SyncId
  /** A full sync of nobody takes everybody out, and is more often a broken export than meant. */
  readonly allowEmpty: boolean
  /** Once aborted the sync is not ended. */
  readonly signal: AbortSignal
  readonly onProgress?: (received: number) => void
}

export interface SyncReport {
  readonly syncId: SyncId
  /** Lines with a member, each acknowledged when the sync ended. */
  readonly received: number
  readonly end: SyncEnd
}

/** All but `ended`: those named so far are taken over, nobody is taken out for not being named. */
export type SyncEnd =
  | { readonly kind: 'ended' }
  /** A line is wrong; `message` says which and how. */
  | { readonly kind: 'refused'; readonly message: string }
  | { readonly kind: 'empty' }
  | { readonly kind: 'interrupted' }

/**
 * Writes one sync: an observation for each member, and when all replicas have all of them its end, to every partition. However many
 * members there are, memory stays small: no more is read than Kafka takes. Rejects with what `lines` throws, and when Kafka does not
 * take something; then the sync is not ended either.
 */
export async function writeSync(
  deps: SyncDeps,
  lines: AsyncIterable<readonly string[]>,
  options: SyncOptions,
): Promise<SyncReport> {
  const { audience, mode, syncId, allowEmpty, signal } = options
  const writing = { appending: new Appending(deps.producer), received: 0 }
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

/** Undefined: every line was taken. */
async function observe(
  { topic, encodeInput, headers = {} }: SyncDeps,
  lines: AsyncIterable<readonly string[]>,
  { audience: { name: audience, kind }, mode, syncId, signal, onProgress }: SyncOptions,
  writing: { readonly appending: Appending; received: number },
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

/** Writes what concerns all of an audience. Resolves when all replicas of all partitions have it. */
export async function toEveryPartition(
  { producer, topic, partitions, encodeInput, headers = {} }: SyncDeps,
  input: AudienceInput,
): Promise<void> {
  const appending = new Appending(producer)
  const value = encodeInput(input)
  for (let partition = (await partitions()) - 1; partition >= 0; partition--)
    appending.add(topic, { key: null, value, headers, partition })
  await appending.ended()
}
