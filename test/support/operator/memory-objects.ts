import { randomBytes } from 'node:crypto'
import type { ConfigObjects } from '../../../src/core/config-objects/config-objects.ts'
import { type Merged, mergeObjects } from '../../../src/core/config-objects/merge-objects.ts'
import { parseEncryptionKey } from '../../../src/core/encryption-key.ts'
import type { Clock } from '../../../src/core/ports.ts'
import type { Settings } from '../../../src/core/settings/settings.ts'
import { draftFrom, settingsFrom } from '../../../src/core/settings/validate.ts'
import { createConfigObjects } from '../../../src/services/config-objects/list-and-change-config-objects.ts'
import { createObjectStore } from '../../../src/services/config-objects/object-store.ts'
import { ObjectWriter } from '../../../src/services/config-objects/object-writer.ts'
import { MemoryLog } from '../kafka/memory-log.ts'
import { silent } from '../telemetry/silent-logger.ts'

export const configTopic = 'hookline.config'

export function fileSettings(): Settings {
  const result = settingsFrom(
    draftFrom({
      kafka: { brokers: ['127.0.0.1:9092'] },
      registry: { url: 'http://127.0.0.1:8081' },
      network: { allow: ['127.0.0.0/8'] },
      operator: { keys: [{ name: 'ada', role: 'operate', key: 'operator-key-of-ada' }] },
      sources: ['web', 'server'].map(id => ({ id, writeKey: `a-write-key-of-${id}` })),
      destinations: [
        { id: 'filed', sources: ['web'], webhooks: [{ url: 'https://filed.example.com/hooks' }] },
        { id: 'waiting', paused: true, sources: ['server'], webhooks: [{ url: 'https://waiting.example.com/hooks' }] },
      ],
    }),
    new Map(),
  )
  if (result.kind === 'refused') throw new Error(JSON.stringify(result.problems))
  return result.settings
}

export interface MemoryObjects {
  readonly objects: ConfigObjects
  /** The settings of the configuration file together with all configuration objects. */
  readonly merged: () => Merged
  readonly log: MemoryLog
}

/**
 * The configuration objects of one operator process. Processes with one `log` form an installation.
 * `hasKey`: whether `operator.encryptionKeyFile` is set.
 */
export async function memoryObjects(
  clock: Clock,
  { log = new MemoryLog(clock), hasKey = true }: { readonly log?: MemoryLog; readonly hasKey?: boolean } = {},
): Promise<MemoryObjects> {
  const file = fileSettings()
  const parsed = parseEncryptionKey('01'.repeat(31).concat('02'))
  if (parsed.kind === 'refused') throw new Error(parsed.message)
  const context = file.entriesAsWritten?.context ?? {}
  const reading = { keys: [parsed.key], context }
  const store = createObjectStore({
    follower: log.follower(configTopic),
    topic: configTopic,
    clock,
    logger: silent,
    reading,
  })
  await store.start()
  const writer = new ObjectWriter({ store, producer: log.producer(), topic: configTopic, clock, logger: silent })
  const merged = (): Merged => mergeObjects(file, store.objects(), store.failures)
  const objects = createConfigObjects({
    topic: hasKey ? { store, writer } : undefined,
    file: () => file,
    merged,
    latest: merged,
    clock,
    newNonce: () => randomBytes(12),
  })
  const answering: ConfigObjects = {
    ...objects,
    change: request => answered(log, objects.change(request)),
    enableAgain: (id, by) => answered(log, objects.enableAgain(id, by)),
  }
  return { objects: answering, merged, log }
}

export async function answered<T>(log: MemoryLog, work: Promise<T>): Promise<T> {
  let isRunning = true
  const done = work.finally(() => (isRunning = false))
  while (isRunning) {
    await new Promise(resolve => setImmediate(resolve))
    log.poll()
  }
  return done
}
