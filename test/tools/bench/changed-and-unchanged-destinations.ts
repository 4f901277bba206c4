import { encodeRecord } from '../../../src/core/config-objects/object-record.ts'
import { firstKey, named, objectRecord, sealedValue } from '../../support/config-objects/example-objects.ts'
import { secret } from './forwarders/hookline.ts'
import type { Installation } from './installation-topics.ts'

/** The source of the destinations that get no events. */
export const quietSource = 'quiet'
/** Id of the probe: the destination that the bench changes under load. */
export const probeId = 'probe'

/** Number of sources with events. */
export const sourceCount = 1_000
/**
 * Whether the events of a source go to the probe. Every fourth source belongs to the probe, and
 * each of the others has its own destination. Consecutive events come from the sources in turn, so
 * every fourth event shows whether a change of the probe is already in force.
 */
const isOfProbe = (source: number): boolean => source % 4 === 0

/** The numbers of the sources that belong to the probe, and of the other ones. */
const allSources = Array.from({ length: sourceCount }, (_, source) => source)
const probeSources = allSources.filter(isOfProbe)
const otherSources = allSources.filter(source => !isOfProbe(source))

/**
 * Returns the configuration object of the probe. A change replaces the path of its URL, so that
 * each request shows the number of the change.
 */
export const probeDocument = (url: string, change: number) => ({
  sources: probeSources.map(source => `s${source}`),
  sharedSecret: secret,
  webhooks: [{ url: `${url}/v${change}`, headers: { Authorization: 'Bearer bench' } }],
})

/**
 * Reads the number of the change from the path of a request. Returns undefined if the request was
 * not for the probe.
 */
export function changeIn(path: string): number | undefined {
  const found = /\/v(\d+)$/.exec(path)?.[1]
  return found === undefined ? undefined : Number(found)
}

/**
 * Writes `count` destinations to the config topic, as the operator API does. The first one is the
 * probe. Then comes one destination for each source that has events and does not belong to the
 * probe. The remaining destinations get no events.
 */
export const writeDestinations = (installation: Installation, count: number, url: string): Promise<void> =>
  installation.write(installation.topics.config, records(count, url))

function* records(count: number, url: string) {
  yield record(probeId, probeDocument(url, 0))
  for (let index = 1; index < count; index++) {
    const source = otherSources[index - 1]
    const webhooks = [{ url: `${url}/${index}`, headers: { Authorization: `Bearer bench-${index}` } }]
    const sources = [source === undefined ? quietSource : `s${source}`]
    yield record(`customer-${index}`, { sources, sharedSecret: secret, webhooks })
  }
}

const record = (id: string, document: object) =>
  encodeRecord(objectRecord({ id, value: sealedValue(named('destination', id), { ...document }, firstKey) }))
