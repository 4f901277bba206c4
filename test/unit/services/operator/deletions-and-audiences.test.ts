import { beforeEach, describe, expect, it } from '@jest/globals'
import { audienceDirectory } from '../../../../src/core/audience/configured-audiences.ts'
import { type SyncId, syncBegan } from '../../../../src/core/audience/sync-id.ts'
import { createRouting, placeholderDestination, type Routing } from '../../../../src/core/delivery/route.ts'
import { type SyncRequest, UploadCutShort } from '../../../../src/core/operator/deletion-and-audience-api.ts'
import type { TopicReader } from '../../../../src/core/ports.ts'
import {
  createDeletionsAndAudiences,
  type DeletionsAndAudiences,
} from '../../../../src/services/operator/deletions-and-audiences.ts'
import { requestLimits } from '../../../../src/services/operator/find-deletion.ts'
import { destinationOf, sourceOf } from '../../../support/builders.ts'
import { OperatorHarness, topics } from '../../../support/operator/deletion-and-audience-command-harness.ts'
import { RecordingLogger } from '../../../support/telemetry/recording-logger.ts'
import { traceparent } from '../../../support/telemetry/traceparent.ts'

const hour = 3_600_000
const destinations = [destinationOf()]
const directory = audienceDirectory({
  destinations,
  audiences: { emitPerSecond: 1, list: [{ name: 'Shoppers', kind: 'audience', destinations: ['crm'] }] },
})

let harness: OperatorHarness
let logger: RecordingLogger
let service: DeletionsAndAudiences
let reader: TopicReader
let routing: Routing
beforeEach(async () => {
  routing = createRouting({ sources: [sourceOf('web')], destinations })
  harness = new OperatorHarness()
  logger = new RecordingLogger()
  const access = harness.access()
  reader = access.reader
  service = createDeletionsAndAudiences({
    ...{ producer: access.producer, reader, positions: access.positions, clock: access.clock },
    ...{ topics, logger, suppressions: await access.suppressions() },
    codec: await access.events(),
    inputCodec: await access.inputs(),
    brokersNow: access.brokerTime,
    routing: () => routing,
    audiences: () => directory,
  })
})

async function* listOf(...batches: readonly (readonly string[] | Error)[]): AsyncGenerator<readonly string[]> {
  for (const batch of batches) {
    if (batch instanceof Error) throw batch
    yield batch
  }
}
const sync = (lines: AsyncIterable<readonly string[]>, given: Partial<SyncRequest> = {}) =>
  harness.during(service.sync({ audience: 'Shoppers', mode: 'full', allowEmpty: false, lines, ...given }))
const deleteUsers = (input: unknown) => harness.during(service.deleteUsers(input))

describe('a deletion', () => {
  it('is carried out, is logged without its users, and has a status', async () => {
    const answer = await deleteUsers({ userIds: ['ada'] })
    expect(answer).toEqual({ kind: 'accepted', id: expect.any(String), status: 'running', users: 1 })
    const { id } = answer as { id: string }
    expect(harness.events().map(({ message }) => message.type)).toEqual(['delete'])
    expect(await service.findDeletion(id)).toMatchObject({ kind: 'found', status: { id, status: 'running' } })
    expect(logger.lines).toMatchObject([{ level: 'info', fields: { id, users: 1, suppress: false, sources: ['web'] } }])
    expect(JSON.stringify(logger.lines)).not.toContain('ada')
  })

  it("uses the brokers' time", async () => {
    harness.brokersAhead = hour
    await deleteUsers({ userIds: ['ada'] })
    expect(harness.marksOf('ada')).toMatchObject([{ deletedAt: Date.parse('2026-03-01T01:00:00.000Z') }])
  })

  it.each<[string, unknown, string]>([
    ['without users', {}, 'invalid_body'],
    ['of an unknown source', { userIds: ['ada'], sources: ['wbe'] }, 'unknown_source'],
  ])('%s is refused', async (_name, input, code) => {
    expect(await deleteUsers(input)).toMatchObject({ kind: 'refused', code })
    expect(harness.log.records(topics.suppressions)).toEqual([])
  })

  it.each([topics.suppressions, topics.audienceInput, topics.deletions, topics.events])(
    'is refused as unavailable when %s is not writable',
    async topic => {
      harness.log.unwritable.add(topic)
      expect(await deleteUsers({ userIds: ['ada'] })).toMatchObject({ code: 'unavailable', retryAfter: 5 })
      expect(logger.lines).toMatchObject([
        {
          level: 'error',
          line: 'deletion failed because of Kafka (see "error"); the client has to send the request again',
        },
      ])
    },
  )

  it('is refused as unavailable, and writes nothing, while the sources of a destination are not known', async () => {
    const lost = placeholderDestination('lost')
    routing = createRouting({ sources: [sourceOf('web')], destinations: [...destinations, lost] })
    expect(await deleteUsers({ userIds: ['ada'] })).toMatchObject({
      ...{ kind: 'refused', code: 'unavailable', retryAfter: 60 },
      message:
        'Hookline cannot read "sources" of the destination "lost", so it cannot decide whether the destination gets a delete message: correct the configuration of the destination, then request the deletion again.',
    })
    expect(harness.log.records(topics.suppressions)).toEqual([])
  })

  it('is refused as unavailable when Kafka does not return the suppressions in time', async () => {
    const turn = () => new Promise(setImmediate)
    const asked = service.deleteUsers({ userIds: ['ada'] })
    await turn()
    await harness.clock.advance(10_000, turn)
    expect(await asked).toMatchObject({ kind: 'refused', code: 'unavailable', retryAfter: 5 })
  })

  it('is not found under an unknown id', async () => {
    expect(await service.findDeletion('d-2')).toMatchObject({ kind: 'refused', code: 'not_found' })
  })

  it('is not reported as unknown when the search does not end in time', async () => {
    reader.readToEnd = () => new Promise(() => {})
    const asked = service.findDeletion('d-2')
    await harness.clock.advance(requestLimits.time, () => new Promise(setImmediate))
    expect(await asked).toMatchObject({ kind: 'refused', code: 'unavailable', retryAfter: 5 })
  })
})

describe('a sync', () => {
  it('is accepted', async () => {
    expect(await sync(listOf(['ada'], ['bob']))).toEqual({ kind: 'synced', syncId: expect.any(Number), received: 2 })
    expect(harness.inputsTold().toSorted()).toEqual([
      'observed ada true',
      'observed bob true',
      'sync_ended',
      'sync_ended',
    ])
    expect(logger.lines).toMatchObject([{ level: 'info', fields: { audience: 'Shoppers', received: 2, end: 'ended' } }])
  })

  it("uses the brokers' time, without reading a topic", async () => {
    harness.brokersAhead = hour
    harness.read.length = 0
    const { syncId } = (await sync(listOf(['ada']))) as { syncId: SyncId }
    expect(syncBegan(syncId)).toBe(Date.parse('2026-03-01T01:00:00.000Z'))
    expect(harness.read).toEqual([])
  })

  it('is refused for an unknown audience before its list is read', async () => {
    const lines = listOf(new Error('nobody is to read this'))
    expect(await sync(lines, { audience: 'Nobody' })).toMatchObject({ code: 'unknown_audience' })
    expect(service.refuseAudience('Nobody')).toMatchObject({ code: 'unknown_audience' })
    expect(service.refuseAudience('Shoppers')).toBeUndefined()
  })

  it.each<[string, readonly string[], string, RegExp]>([
    ['a wrong line', ['ada', '[1]'], 'invalid_body', /^Line 2: .*\. Hookline applies the lines before this line, /],
    ['an empty list', [''], 'invalid_body', /^The list is empty, .* allowEmpty=true/],
  ])('with %s is refused', async (_name, lines, code, message) => {
    expect(await sync(listOf(lines))).toMatchObject({ kind: 'refused', code, message: expect.stringMatching(message) })
    expect(harness.inputsTold()).not.toContain('sync_ended')
    expect(logger.lines).toMatchObject([{ level: 'warn', line: expect.stringMatching(/^audience sync incomplete: /) }])
  })

  it('logs which line is wrong and why, without the user', async () => {
    await sync(listOf(['{"userId":"ada","value":7}']))
    expect(logger.lines).toMatchObject([{ fields: { end: 'refused', why: 'line 1: the value must be true or false' } }])
    expect(JSON.stringify(logger.lines)).not.toContain('ada')
  })

  it('is reported as incomplete when the upload ends early', async () => {
    expect(await sync(listOf(['ada'], new UploadCutShort('the sender has gone')))).toEqual({ kind: 'cut_short' })
    expect(harness.inputsTold()).not.toContain('sync_ended')
    expect(logger.lines).toMatchObject([{ level: 'warn', fields: { why: 'the sender has gone' } }])
  })

  it('is not ended by a process that stops', async () => {
    async function* list() {
      yield ['ada']
      service.stop()
      yield ['bob']
    }
    expect(await sync(list())).toMatchObject({
      ...{ code: 'unavailable', retryAfter: 1 },
      message: 'Hookline is shutting down: send the whole list again.',
    })
    expect(harness.inputsTold()).toEqual(['observed ada true'])
  })

  it('rejects because of a bug, and does not name Kafka as the cause', async () => {
    const bug = new RangeError('Invalid array length')
    await expect(sync(listOf(['ada'], bug))).rejects.toBe(bug)
    expect(logger.lines).toEqual([])
  })

  it('is refused as unavailable when Kafka does not store it', async () => {
    harness.log.unwritable.add(topics.audienceInput)
    expect(await sync(listOf(['ada']))).toMatchObject({ code: 'unavailable', retryAfter: 5 })
  })
})

describe('trace headers', () => {
  const trace = { traceparent: traceparent('a'), tracestate: 'vendor=1' }
  const headersOn = (topic: string) => [
    ...new Set(harness.log.records(topic).map(({ headers }) => JSON.stringify(headers))),
  ]

  it('are in the records of the observations and of the end of a sync', async () => {
    await sync(listOf(['ada', 'bob']), { trace })
    expect(harness.inputsTold().length).toBeGreaterThan(2)
    expect(headersOn(topics.audienceInput)).toEqual([JSON.stringify(trace)])
  })

  it('are on the delete messages and audience inputs of a deletion, not on its stored records', async () => {
    await harness.during(service.deleteUsers({ userIds: ['ada'] }, trace))
    expect(headersOn(topics.audienceInput)).toEqual([JSON.stringify(trace)])
    expect(headersOn(topics.events)).toEqual([JSON.stringify(trace)])
    expect([...headersOn(topics.deletions), ...headersOn(topics.suppressions)].join()).not.toContain('traceparent')
  })

  it('are absent without tracing', async () => {
    await sync(listOf(['ada']))
    await deleteUsers({ userIds: ['ada'] })
    expect([...headersOn(topics.audienceInput), ...headersOn(topics.events)]).toEqual(['{}', '{}'])
  })
})
