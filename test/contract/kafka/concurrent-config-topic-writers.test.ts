import { describe, expect, it } from '@jest/globals'
import { processClock } from '../../../src/adapters/clock/process-clock.ts'
import { createFollower } from '../../../src/adapters/kafka/log/topic-follower.ts'
import { createReader } from '../../../src/adapters/kafka/log/topic-reader.ts'
import type { ChangeOutcome, ConfigObjects, Expected } from '../../../src/core/config-objects/config-objects.ts'
import { mergeObjects } from '../../../src/core/config-objects/merge-objects.ts'
import type { LogRecord } from '../../../src/core/ports.ts'
import { topicConfig, topicSpecs } from '../../../src/core/topics.ts'
import { createConfigObjects } from '../../../src/services/config-objects/list-and-change-config-objects.ts'
import { createObjectStore, type ObjectStore } from '../../../src/services/config-objects/object-store.ts'
import { ObjectWriter } from '../../../src/services/config-objects/object-writer.ts'
import {
  destinationDocument,
  fileSettings,
  firstKey,
  newNonce,
  sourceDocument,
} from '../../support/config-objects/example-objects.ts'
import { silent } from '../../support/telemetry/silent-logger.ts'
import { afterwards, kafka, newTopic, producer } from './test-clients-and-topics.ts'

const file = fileSettings()
const reading = { keys: [firstKey], context: {} }

function newConfigTopic(): Promise<string> {
  const specs = topicSpecs({ prefix: 'p', partitions: 1, replicationFactor: 1 }, [], { configTopic: true })
  return newTopic({ partitions: 3, config: { ...topicConfig(specs.at(-1)!) } })
}

async function follow(topic: string): Promise<ObjectStore> {
  const follower = createFollower({ kafka: kafka(), topic, clock: processClock, logger: silent })
  const store = createObjectStore({ follower, topic, logger: silent, reading, clock: processClock })
  await store.start()
  afterwards(() => store.stop())
  return store
}

const mergedFrom = async (topic: string) => mergeObjects(file, (await follow(topic)).objects())

async function operator(topic: string): Promise<ConfigObjects> {
  const store = await follow(topic)
  const writer = new ObjectWriter({ store, producer: producer(), topic, clock: processClock, logger: silent })
  afterwards(async () => writer.stop())
  const merged = () => mergeObjects(file, store.objects())
  const settings = { file: () => file, merged, latest: merged }
  return createConfigObjects({ topic: { store, writer }, ...settings, clock: processClock, newNonce })
}

async function recordsOf(topic: string): Promise<readonly LogRecord[]> {
  const records: LogRecord[] = []
  const reader = createReader({ kafka: kafka(), clock: processClock, logger: silent })
  await reader.readToEnd(topic, ({ key, value, ...record }) => {
    records.push({ ...record, key: key && Buffer.from(key), value: value && Buffer.from(value) })
  })
  return records
}

const countOf = ({ document }: { readonly document: object }): number => {
  const [webhook] = (document as { webhooks: readonly { headers: object }[] }).webhooks
  return Object.keys(webhook?.headers ?? {}).filter(name => name.startsWith('X-')).length
}

describe('two operator processes on one config topic', () => {
  it('lose none of 200 concurrent changes of 20 destinations, and agree on the result', async () => {
    const topic = await newConfigTopic()
    const operators = [await operator(topic), await operator(topic)]
    const ids = Array.from({ length: 20 }, (_, index) => `crm-${index}`)
    const outcomes = await Promise.all(
      ids.flatMap(id =>
        Array.from({ length: 10 }, (_, index) =>
          operators[index % 2]!.change({
            ...{ kind: 'destination', id, expected: { kind: 'any' }, by: `operator-${index % 2}` },
            next: (current = destinationDocument()) => {
              const [webhook] = current['webhooks'] as [{ headers: object }]
              return {
                ...current,
                webhooks: [{ ...webhook, headers: { ...webhook.headers, [`X-${index}`]: 'of-the-crm' } }],
              }
            },
          }),
        ),
      ),
    )
    expect(new Set(outcomes.map(({ kind }) => kind))).toEqual(new Set(['changed']))
    for (const each of [...operators, await operator(topic)]) {
      const objects = each.list('destination').filter(({ origin }) => origin === 'api')
      expect(objects.map(({ id, version }) => [id, version]).sort()).toEqual(ids.map(id => [id, 10]).sort())
      expect(objects.map(countOf)).toEqual(ids.map(() => 10))
    }
    const records = await recordsOf(topic)
    expect(records.every(({ partition }) => partition === 0)).toBe(true)
    expect(Buffer.concat(records.map(({ value }) => value ?? Buffer.of())).toString('latin1')).not.toMatch(/of-the-crm/)
  })

  it('give all but one of the writers of a version a conflict', async () => {
    const topic = await newConfigTopic()
    const operators = [await operator(topic), await operator(topic)]
    const write = (index: number, paused: boolean, expected: Expected) =>
      operators[index]!.change({
        ...{ kind: 'destination', id: 'crm', expected, by: `operator-${index}` },
        next: () => destinationDocument({ paused }),
      })
    const created = await Promise.all([0, 1].map(index => write(index, false, { kind: 'absent' })))
    const ended = (outcomes: readonly ChangeOutcome[]) => outcomes.map(({ kind }) => kind).sort()
    expect(ended(created)).toEqual(['changed', 'conflict'])
    const updated = await Promise.all(
      [0, 1, 0, 1].map((index, at) => write(index, at % 2 === 0, { kind: 'version', version: 1 })),
    )
    expect(ended(updated).filter(kind => kind === 'changed').length).toBe(1)
    const conflicts = updated.filter(outcome => outcome.kind === 'conflict')
    expect(conflicts).toEqual(conflicts.map(() => ({ kind: 'conflict', version: 2 })))
    const late = await operator(topic)
    expect(late.get('destination', 'crm')?.version).toBe(2)
  })
})

it('an operator process takes a change of a version that another one has just answered', async () => {
  const topic = await newConfigTopic()
  const operators = [await operator(topic), await operator(topic)]
  for (let version = 0; version < 10; version++) {
    const outcome = await operators[version % 2]!.change({
      ...{ kind: 'destination', id: 'crm', by: 'ada' },
      expected: version === 0 ? { kind: 'absent' } : { kind: 'version', version },
      next: () => destinationDocument({ paused: version % 2 === 0 }),
    })
    expect(outcome).toMatchObject({ kind: 'changed', object: { version: version + 1 } })
  }
})

describe('concurrent changes of two objects that together would break a reference', () => {
  const rounds = Array.from({ length: 6 }, (_, index) => index)
  const given = { expected: { kind: 'any' }, by: 'ada' } as const
  const putSource = (id: string, writeKey: string) =>
    ({ ...given, kind: 'source', id, next: () => sourceDocument({ writeKey }) }) as const

  it.each([
    ['one process', 1],
    ['two processes', 2],
  ])('never delete a source that a destination names, in %s', async (_name, count) => {
    const topic = await newConfigTopic()
    const operators = [await operator(topic), await operator(topic)]
    for (const round of rounds) {
      const source = `source-${round}`
      await operators[0]!.change(putSource(source, `write-key-${round}`))
      // This call changes nothing, but resolves only when the second process has read the source.
      await operators[1]!.change(putSource(source, `write-key-${round}`))
      const deletion = { ...given, kind: 'source', id: source, next: () => undefined } as const
      const creation = {
        kind: 'destination',
        id: `crm-${round}`,
        next: () => destinationDocument({ sources: [source] }),
      }
      const writes = [
        () => operators[0]!.change(deletion),
        () => operators[count - 1]!.change({ ...given, ...creation } as Parameters<ConfigObjects['change']>[0]),
      ]
      const outcomes = await Promise.all((round % 2 === 0 ? writes : writes.reverse()).map(write => write()))
      expect(outcomes.map(({ kind }) => kind).sort()).toEqual(['changed', 'refused'])
    }
    const { problems, settings } = await mergedFrom(topic)
    expect([...problems]).toEqual([])
    const known = new Set(settings.sources.map(({ id }) => id))
    for (const { sources } of settings.destinations) expect(sources.filter(id => !known.has(id))).toEqual([])
  })

  it.each([
    ['one process', 1],
    ['two processes', 2],
  ])('never give one write key to two sources, in %s', async (_name, count) => {
    const topic = await newConfigTopic()
    const operators = [await operator(topic), await operator(topic)]
    for (const round of rounds) {
      const ids = [`a-${round}`, `b-${round}`].toSorted(() => (round % 2 === 0 ? 1 : -1))
      const outcomes = await Promise.all(
        ids.map((id, index) => operators[Math.min(index, count - 1)]!.change(putSource(id, `write-key-${round}`))),
      )
      expect(outcomes.map(({ kind }) => kind).sort()).toEqual(['changed', 'refused'])
    }
    const { problems, settings } = await mergedFrom(topic)
    expect([...problems]).toEqual([])
    expect(settings.sources).toHaveLength(1 + rounds.length)
  })
})
