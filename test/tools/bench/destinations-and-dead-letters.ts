import { encodeRecord } from '../../../src/core/config-objects/object-record.ts'
import { deadLetterRecord } from '../../../src/core/delivery/dead-letter-record.ts'
import { initialState } from '../../../src/core/delivery/delivery-state.ts'
import { durationMs } from '../../../src/core/time.ts'
import { firstKey, named, objectRecord, sealedValue } from '../../support/config-objects/example-objects.ts'
import { secret } from './forwarders/hookline.ts'
import type { Installation } from './installation-topics.ts'
import { idOf, numberIn } from './sample-events.ts'

/**
 * Number of destinations per source. The ten busy destinations, which have half of all dead
 * letters, are not counted.
 */
const perSource = 10
/**
 * In each group of 20 consecutive sources, all dead letters of the first ten belong to the busy
 * destinations.
 */
const busy = { count: 10, period: 20 }
const refusedOneIn = 10
const window = durationMs(24 * 3_600_000)

export const sourcesFor = (destinations: number): number => Math.floor(destinations / perSource)

/** The destinations 0 to 9 are the busy ones. */
export const destinationId = (index: number): string => `customer-${index}`

/** Index of the destination that the dead letter of the n-th event is for. */
export function destinationOf(number: number, sources: number): number {
  const source = number % sources
  const inPeriod = source % busy.period
  return inPeriod < busy.count ? inPeriod : source + sources * (Math.floor(number / sources) % perSource)
}

export const writeDestinationsOf = (installation: Installation, count: number, url: string): Promise<void> =>
  installation.write(installation.topics.config, objects(count, installation.sourceIds, url))

function* objects(count: number, sourceIds: readonly string[], url: string) {
  for (let index = 0; index < count; index++) {
    const id = destinationId(index)
    const sources =
      index < busy.count
        ? sourceIds.filter((_, source) => source % busy.period === index)
        : [sourceIds[index % sourceIds.length]]
    const webhooks = [{ url: `${url}/${index}`, headers: { Authorization: `Bearer bench-${index}` } }]
    const document = { sources, sharedSecret: secret, webhooks }
    yield encodeRecord(objectRecord({ id, value: sealedValue(named('destination', id), document, firstKey) }))
  }
}

export interface Written {
  readonly key: string
  readonly messageId: string
}

/** Writes a dead letter of each event. Returns `sampled` of them, from all parts of the topic. */
export async function writeDeadLetters(installation: Installation, sampled: number): Promise<readonly Written[]> {
  const { topics, sourceIds } = installation
  const everyNth = Math.max(1, Math.floor(installation.appended() / sampled))
  const written: Written[] = []
  await installation.writeOfEvents(topics.deadLetter, event => {
    const number = numberIn(event.value ?? Buffer.alloc(0)) ?? 0
    const messageId = idOf(number)
    const id = destinationId(destinationOf(number, sourceIds.length))
    const isRefused = number % refusedOneIn === 0
    const state = {
      ...initialState(event, id, messageId, event.timestamp, window),
      ...(isRefused ? { attempt: 1, outcomes: 'http_4xx' } : { attempt: 5, outcomes: 'http_5xx' }),
    }
    const record = deadLetterRecord(event, state, isRefused ? 'http_4xx' : 'retries_exhausted')
    if (number % everyNth === 0) written.push({ key: String(record.key), messageId })
    return record
  })
  return written
}
