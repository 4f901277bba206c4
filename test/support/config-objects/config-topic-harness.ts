import type {
  ChangeOutcome,
  ConfigObjects,
  DocumentRequest,
  ObjectDocument,
} from '../../../src/core/config-objects/config-objects.ts'
import { type Merged, mergeObjects } from '../../../src/core/config-objects/merge-objects.ts'
import type { EncryptionKey } from '../../../src/core/encryption-key.ts'
import type { Logger } from '../../../src/core/ports.ts'
import type { Settings } from '../../../src/core/settings/settings.ts'
import { createConfigObjects } from '../../../src/services/config-objects/list-and-change-config-objects.ts'
import { createObjectStore, type ObjectStore } from '../../../src/services/config-objects/object-store.ts'
import { ObjectWriter } from '../../../src/services/config-objects/object-writer.ts'
import { createSourceDeletionUndo } from '../../../src/services/config-objects/undo-source-deletions.ts'
import type { MemoryFollower } from '../kafka/memory-follower.ts'
import { MemoryLog } from '../kafka/memory-log.ts'
import { ManualClock } from '../manual-clock.ts'
import { silent } from '../telemetry/silent-logger.ts'
import { fileSettings, firstKey, newNonce } from './example-objects.ts'

export const configTopic = 'hookline.config'

export interface OperatorProcess {
  readonly objects: ConfigObjects
  readonly store: ObjectStore
  readonly writer: ObjectWriter
  readonly follower: MemoryFollower
  readonly merged: () => Merged
  readonly latestCalls: () => number
  stop(): void
}

/** Operator processes on one in-memory config topic, with a manual clock. */
export class ConfigTopicHarness {
  readonly clock = new ManualClock()
  readonly log = new MemoryLog(this.clock)

  /** Resolves when the process has read the topic to its end. */
  async start({
    keys = [firstKey],
    file = fileSettings(),
    logger = silent as Logger,
  }: {
    keys?: readonly EncryptionKey[]
    file?: Settings
    logger?: Logger
  } = {}): Promise<OperatorProcess> {
    const { clock, log } = this
    const follower = log.follower(configTopic)
    const reading = { keys, context: file.entriesAsWritten?.context ?? {} }
    const store = createObjectStore({ follower, topic: configTopic, logger, reading, clock })
    await store.start()
    const writer = new ObjectWriter({ store, producer: log.producer(), topic: configTopic, clock, logger })
    let last: { readonly revision: number; readonly merged: Merged } | undefined
    const merged = (): Merged => {
      if (last?.revision !== store.revision)
        last = { revision: store.revision, merged: mergeObjects(file, store.objects(), store.failures) }
      return last.merged
    }
    let latestCalls = 0
    const latest = (): Merged => {
      latestCalls++
      return merged()
    }
    const settings = { file: () => file, merged, latest }
    const objects = createConfigObjects({ topic: { store, writer }, ...settings, clock, newNonce })
    const undo = createSourceDeletionUndo({ store, writer, clock, logger })
    const stop = (): void => {
      undo.stop()
      writer.stop()
    }
    return { objects, store, writer, follower, merged, latestCalls: () => latestCalls, stop }
  }

  /** Acknowledges writes and delivers records until `promise` is settled. */
  async settled<T>(promise: Promise<T>): Promise<T> {
    let isEnded = false
    const end = (): void => {
      isEnded = true
    }
    promise.then(end, end)
    while (!isEnded) {
      await new Promise(resolve => setImmediate(resolve))
      this.log.poll()
    }
    return promise
  }

  /** Advances the clock, acknowledges all writes and delivers all records. */
  async advance(ms: number): Promise<void> {
    await this.clock.advance(ms, async () => {
      // Some turns can pass between a process's read and its next write, so five turns without a
      // record mean idle.
      for (let idleTurns = 0; idleTurns < 5; ) {
        idleTurns = this.log.poll() ? 0 : idleTurns + 1
        await new Promise(resolve => setImmediate(resolve))
      }
    })
  }

  /** A new harness with a copy of this topic after compaction. The records keep their offsets. */
  compacted(): ConfigTopicHarness {
    const other = new ConfigTopicHarness()
    const records = this.log.records(configTopic)
    const last = new Map(records.map(record => [String(record.key), record]))
    for (const record of records)
      if (last.get(String(record.key)) === record)
        other.log.write(configTopic, record.value, String(record.key), record.headers)
      else other.log.write(configTopic, null, 'removed')
    return other
  }

  /**
   * The version and the action of each record, for example `1 created`, followed by `copy` if the
   * record has this header.
   */
  written(): readonly string[] {
    return this.log
      .records(configTopic)
      .map(({ headers }) => [headers['version'], headers['action'], headers['copy']].filter(Boolean).join(' '))
  }
}

export async function oneOperator(options: Parameters<ConfigTopicHarness['start']>[0] = {}) {
  const harness = new ConfigTopicHarness()
  const process = await harness.start(options)
  return { harness, process, change: changing(harness, process) }
}

/**
 * Returns a function that changes an object through the given process, by default the destination
 * `crm`.
 */
export const changing =
  (harness: ConfigTopicHarness, { objects }: OperatorProcess) =>
  (
    next: ObjectDocument | undefined | DocumentRequest['next'],
    given: Partial<DocumentRequest> = {},
  ): Promise<ChangeOutcome> =>
    harness.settled(
      objects.change({
        ...{ kind: 'destination', id: 'crm', expected: { kind: 'any' }, by: 'ada' },
        next: typeof next === 'function' ? next : () => next,
        ...given,
      }),
    )
