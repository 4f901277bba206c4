import { expect, it } from '@jest/globals'
import fc from 'fast-check'
import { holdLiveSettings } from '../../../../src/app/compose/live-settings.ts'
import { createMergedSettings, readingContextOf } from '../../../../src/app/compose/merged-settings.ts'
import { type FailureState, urlHashesOf } from '../../../../src/core/auto-disable/judge-failures.ts'
import type { ObjectDocument } from '../../../../src/core/config-objects/config-objects.ts'
import { mergeObjects } from '../../../../src/core/config-objects/merge-objects.ts'
import { encodeRecord, encodeValue, type ObjectRecord } from '../../../../src/core/config-objects/object-record.ts'
import { createRouting } from '../../../../src/core/delivery/route.ts'
import { createObjectStore } from '../../../../src/services/config-objects/object-store.ts'
import { start } from '../../../support/builders.ts'
import { configTopic } from '../../../support/config-objects/config-topic-harness.ts'
import {
  destinationDocument,
  fileSettings,
  firstKey,
  named,
  objectRecord,
  sealedValue,
  secondKey,
  sourceDocument,
} from '../../../support/config-objects/example-objects.ts'
import { MemoryLog } from '../../../support/kafka/memory-log.ts'
import { ManualClock } from '../../../support/manual-clock.ts'
import { silent } from '../../../support/telemetry/silent-logger.ts'

const often = fc.integer({ min: 0, max: 19 }).map(each => each > 0)
const document = fc.record({
  sources: often.map(each => (each ? ['web'] : ['web', 'app'])),
  enabled: fc.boolean(),
  paused: fc.boolean(),
  webhooks: fc.constantFrom([{ url: 'https://one.example.com/' }], [{ url: 'https://two.example.com/' }]),
})
const id = fc.oneof({ weight: 9, arbitrary: fc.constantFrom('a', 'b') }, fc.constant('file-crm'))

/** A record on the config topic, or a merge of the records since the last merge. */
type Step =
  | { readonly kind: 'destination'; readonly id: string; readonly document: ObjectDocument; readonly isSealed: boolean }
  | { readonly kind: 'deletion'; readonly id: string }
  | { readonly kind: 'source'; readonly isThere: boolean }
  | { readonly kind: 'failures'; readonly id: string; readonly isDisabled: boolean }
  | { readonly kind: 'merge' }
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({ kind: fc.constant('destination' as const), id, document, isSealed: often }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('deletion' as const), id }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('source' as const), isThere: often }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('failures' as const), id, isDisabled: fc.boolean() }) },
  { weight: 15, arbitrary: fc.record({ kind: fc.constant('merge' as const) }) },
)

/** Writes records with the versions that Hookline would give them. */
class ConfigTopicWriter {
  readonly #log: MemoryLog
  readonly #versions = new Map<string, number>()
  readonly #existing = new Set<string>()

  constructor(log: MemoryLog) {
    this.#log = log
  }

  write(name: Pick<ObjectRecord, 'kind' | 'id'>, content: string | undefined): void {
    const key = `${name.kind}/${name.id}`
    const exists = this.#existing.has(key)
    if (!exists && content === undefined) return
    const version = (this.#versions.get(key) ?? 0) + 1
    this.#versions.set(key, version)
    if (content === undefined) this.#existing.delete(key)
    else this.#existing.add(key)
    const action = content === undefined ? 'deleted' : exists ? 'updated' : 'created'
    const record = encodeRecord(objectRecord({ ...name, version, action, value: content }))
    this.#log.write(configTopic, record.value, String(record.key), record.headers)
    this.#log.poll()
  }
}

async function setUp() {
  const clock = new ManualClock()
  const log = new MemoryLog(clock)
  const file = fileSettings()
  const live = holdLiveSettings(file)
  const merged = createMergedSettings({ file, clock, apply: live.apply })
  const [follower, reading] = [log.follower(configTopic), readingContextOf(file)]
  const store = createObjectStore({ follower, topic: configTopic, logger: silent, reading, clock })
  await store.start()
  merged.follow(store)
  const topic = new ConfigTopicWriter(log)
  const writeSource = (isThere: boolean): void => {
    const name = named('source', 'app')
    topic.write(name, isThere ? sealedValue(name, sourceDocument()) : undefined)
  }
  const failuresOf = (own: string, isDisabled: boolean): FailureState => {
    const destination = merged.latest().settings.destinations.find(each => each.id === own)
    const disabled = { at: start, reason: 'failing', failingSince: start } as const
    const counts = { version: 1, failingSince: start, attempts: 20, gone: [] }
    return { ...counts, urls: destination ? urlHashesOf(destination) : '', disabled: isDisabled ? disabled : undefined }
  }
  async function run(next: Step): Promise<void> {
    switch (next.kind) {
      case 'destination': {
        const name = named('destination', next.id)
        // The process has only one of these keys. It excludes objects that need the other key.
        const key = next.isSealed ? firstKey : secondKey
        return topic.write(name, sealedValue(name, destinationDocument(next.document), key))
      }
      case 'deletion':
        return topic.write(named('destination', next.id), undefined)
      case 'source':
        return writeSource(next.isThere)
      case 'failures':
        return topic.write(next, encodeValue({ ...failuresOf(next.id, next.isDisabled) }))
      case 'merge':
        await clock.advance(1_000)
    }
  }
  /**
   * Compares the settings with a merge of all objects. Returns whether the last merge replaced only
   * the changed destinations.
   */
  function check(): boolean {
    const { changedDestinations, ...latest } = merged.latest()
    expect(latest).toEqual(mergeObjects(file, store.objects(), store.failures))
    const { destinations, bySource, ...routing } = live.get().routing
    expect({ ...routing, destinations: new Map(destinations), bySource: new Map(bySource) }).toEqual(
      createRouting(merged.get().settings),
    )
    for (const connected of bySource.values())
      for (const destination of connected) expect(destinations.get(destination.id)).toBe(destination)
    return changedDestinations !== undefined
  }
  writeSource(true)
  return { run, check }
}

it('after any changes, the settings in use are those of a merge of all objects', async () => {
  let fromLast = 0
  let total = 0
  let count = 0
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async steps => {
      const { run, check } = await setUp()
      for (const next of steps) {
        await run(next)
        // Without a check in between, the next merge combines several changes.
        if (++count % 3 === 0) continue
        total++
        if (check()) fromLast++
      }
    }),
    { numRuns: 150 },
  )
  expect(fromLast / total).toBeGreaterThan(0.1)
})
