import { expect, it } from '@jest/globals'
import fc from 'fast-check'
import type { ChangeRequest } from '../../../../src/core/config-objects/config-objects.ts'
import { ConfigTopicHarness, type OperatorProcess } from '../../../support/config-objects/config-topic-harness.ts'
import { destinationDocument, sourceDocument } from '../../../support/config-objects/example-objects.ts'

const id = fc.constantFrom('a', 'b', 'c')
const destination = fc.record({
  kind: fc.constant('destination' as const),
  id: fc.constantFrom('x', 'y'),
  sources: fc.option(fc.uniqueArray(id, { minLength: 1, maxLength: 2 }), { nil: undefined }),
})
/**
 * A change of a source. `own`: the source gets its own write key. `contested`: it gets one that
 * several sources request. `undefined`: it is deleted.
 */
const source = (key: fc.Arbitrary<'own' | 'contested' | undefined>) =>
  fc.record({ kind: fc.constant('source' as const), id, key })
type ValueOf<T> = T extends fc.Arbitrary<infer V> ? V : never
type Given = ValueOf<typeof destination> | ValueOf<ReturnType<typeof source>>

/**
 * Batches of concurrent changes. The process `slow` cannot read the config topic for `turns`
 * iterations of the event loop.
 */
const batchesOf = (request: fc.Arbitrary<Given>) =>
  fc.array(
    fc.record({
      writes: fc.array(fc.record({ process: fc.nat(2), request }), { minLength: 1, maxLength: 6 }),
      slow: fc.nat(2),
      turns: fc.nat(4),
    }),
    { minLength: 1, maxLength: 5 },
  )

function requestOf(given: Given): ChangeRequest {
  const shared = { kind: given.kind, id: given.id, expected: { kind: 'any' }, by: 'ada' } as const
  if (given.kind === 'source') {
    const { key } = given
    const writeKey = key === 'own' ? `key-of-${given.id}` : key
    return { ...shared, next: () => (writeKey === undefined ? undefined : sourceDocument({ writeKey })) }
  }
  const { sources } = given
  return { ...shared, next: () => (sources === undefined ? undefined : destinationDocument({ sources })) }
}

const keysOf = ({ merged }: OperatorProcess) =>
  merged().settings.sources.map(({ id: own, writeKeys }) => `${own}: ${writeKeys.map(key => key.reveal())}`)

it.each([
  ['deletions of sources', source(fc.constantFrom('own' as const, undefined))],
  ['sources with one write key', source(fc.constantFrom('own' as const, 'contested' as const))],
])(
  'destinations and %s that change concurrently break no reference',
  async (_name, ofSource) => {
    await fc.assert(
      fc.asyncProperty(batchesOf(fc.oneof(ofSource, destination)), async batches => {
        const harness = new ConfigTopicHarness()
        const processes = [await harness.start(), await harness.start(), await harness.start()]
        for (const { writes, slow, turns } of batches) {
          const changes = Promise.all(
            writes.map(({ process, request: given }) => processes[process]!.objects.change(requestOf(given))),
          )
          processes[slow]!.follower.isCutOff = true
          for (let turn = 0; turn < turns; turn++) {
            await new Promise(resolve => setImmediate(resolve))
            harness.log.poll()
          }
          processes[slow]!.follower.isCutOff = false
          const kinds = (await harness.settled(changes)).map(({ kind }) => kind)
          expect(['changed', 'unchanged', 'refused', 'not_found']).toEqual(expect.arrayContaining([...new Set(kinds)]))
          for (const { merged } of processes) expect([...merged().problems]).toEqual([])
        }
        const late = await harness.start()
        for (const each of processes) expect(keysOf(each)).toEqual(keysOf(late))
      }),
      { numRuns: 100 },
    )
  },
  60_000,
)
