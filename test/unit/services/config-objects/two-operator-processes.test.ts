import { describe, expect, it } from '@jest/globals'
import { ConfigTopicHarness, configTopic, oneOperator } from '../../../support/config-objects/config-topic-harness.ts'
import { destinationDocument } from '../../../support/config-objects/example-objects.ts'

const version = (number: number) => ({ expected: { kind: 'version', version: number } }) as const

describe('two operator processes', () => {
  it('give one of two writers of the same version a conflict, also when both had the same state', async () => {
    const { harness, process, change } = await oneOperator()
    const other = await harness.start()
    await change(destinationDocument())
    const both = [process, other].map(({ objects }, index) =>
      objects.change({
        ...{ kind: 'destination', id: 'crm', ...version(1), by: `operator-${index}` },
        next: current => ({ ...current, enabled: index === 0 }),
      }),
    )
    const outcomes = await harness.settled(Promise.all(both))
    expect(outcomes).toMatchObject([
      { kind: 'changed', object: { version: 2 } },
      { kind: 'conflict', version: 2 },
    ])
    for (const { objects } of [process, other])
      expect(objects.get('destination', 'crm')).toMatchObject({ changedBy: 'operator-0', document: { enabled: true } })
  })

  it('write a copy of the winner after a loser, and only one for several losers', async () => {
    const { harness, process, change } = await oneOperator()
    const others = [await harness.start(), await harness.start()]
    await change(destinationDocument())
    await harness.settled(
      Promise.all(
        [process, ...others].map(({ objects }, index) =>
          objects.change({
            ...{ kind: 'destination', id: 'crm', ...version(1), by: `operator-${index}` },
            next: current => ({ ...current, paused: index === 1 }),
          }),
        ),
      ),
    )
    expect(harness.written()).toEqual(['1 created', '2 updated', '2 updated', '2 updated'])
    await harness.advance(1_000)
    expect(harness.written().slice(4)).toEqual(['2 updated 1'])
    await harness.advance(120_000)
    expect(harness.written()).toHaveLength(5)
    // A process that starts after compaction reads only the last record.
    const late = new ConfigTopicHarness()
    const { key, value, headers } = harness.log.records(configTopic).at(-1)!
    late.log.write(configTopic, value, String(key), headers)
    const { objects } = await late.start()
    expect(objects.get('destination', 'crm')).toMatchObject({ version: 2, changedBy: 'operator-0' })
  })

  it('write the copy for a loser whose process died', async () => {
    const { harness, process, change } = await oneOperator()
    const dying = await harness.start()
    await change(destinationDocument())
    const update = {
      kind: 'destination',
      id: 'crm',
      ...version(1),
      next: () => destinationDocument({ paused: true }),
    } as const
    const both = [process, dying].map(({ objects }, index) => objects.change({ ...update, by: `operator-${index}` }))
    dying.stop()
    expect(await harness.settled(Promise.all(both))).toMatchObject([{ kind: 'changed' }, { kind: 'conflict' }])
    await harness.advance(29_000)
    expect(harness.written()).toEqual(['1 created', '2 updated', '2 updated'])
    await harness.advance(2_000)
    expect(harness.written().slice(3)).toEqual(['2 updated 1'])
  })

  it('lose no update when both increase the same list', async () => {
    const { harness, process, change } = await oneOperator()
    const other = await harness.start()
    await change(destinationDocument())
    const names = Array.from({ length: 40 }, (_, index) => `X-${index}`)
    const outcomes = await harness.settled(
      Promise.all(
        names.map((name, index) =>
          [process, other][index % 2]!.objects.change({
            ...{ kind: 'destination', id: 'crm', expected: { kind: 'any' }, by: 'ada' },
            next: current => {
              const [webhook] = current!['webhooks'] as [{ headers: object }]
              return { ...current, webhooks: [{ ...webhook, headers: { ...webhook.headers, [name]: 'of-the-crm' } }] }
            },
          }),
        ),
      ),
    )
    expect(new Set(outcomes.map(({ kind }) => kind))).toEqual(new Set(['changed']))
    for (const { objects } of [process, other]) {
      const { version: last, document } = objects.get('destination', 'crm')!
      expect(last).toBe(41)
      const [webhook] = document['webhooks'] as [{ headers: object }]
      expect(Object.keys(webhook.headers).sort()).toEqual(['Authorization', ...names].sort())
    }
  })
})
