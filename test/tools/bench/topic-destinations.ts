import { encodeRecord } from '../../../src/core/config-objects/object-record.ts'
import { firstKey, named, objectRecord, sealedValue } from '../../support/config-objects/objects.ts'
import { secret } from './forwarders/hookline.ts'
import type { Installation } from './installation.ts'

/** The source of the destinations that get no events. */
export const quietSource = 'quiet'
export const probeId = 'probe'

/** How many of the sources with events have their own destination, and how many feed the probe. */
export const sourcesOf = { all: 1_000, ofProbe: 250 }

/** The document of the probe. A change replaces its path, so that each request shows its version. */
export const probeDocument = (url: string, change: number) => ({
  sources: Array.from({ length: sourcesOf.ofProbe }, (_, source) => `s${source}`),
  sharedSecret: secret,
  webhooks: [{ url: `${url}/v${change}`, headers: { Authorization: 'Bearer bench' } }],
})

/** Reads the number of the change from the path of a request; `undefined` for another destination. */
export function changeIn(path: string): number | undefined {
  const found = /\/v(\d+)$/.exec(path)?.[1]
  return found === undefined ? undefined : Number(found)
}

/**
 * Writes destinations to the config topic, as the operator API does: the probe, one for each other
 * source with events, and then destinations without events.
 */
export const writeDestinations = (installation: Installation, count: number, url: string): Promise<void> =>
  installation.write(installation.topics.config, records(count, url))

function* records(count: number, url: string) {
  yield record(probeId, probeDocument(url, 0))
  for (let index = 1; index < count; index++) {
    const source = sourcesOf.ofProbe + index - 1
    const webhooks = [{ url: `${url}/${index}`, headers: { Authorization: `Bearer bench-${index}` } }]
    const sources = [source < sourcesOf.all ? `s${source}` : quietSource]
    yield record(`customer-${index}`, { sources, sharedSecret: secret, webhooks })
  }
}

const record = (id: string, document: object) =>
  encodeRecord(objectRecord({ id, value: sealedValue(named('destination', id), { ...document }, firstKey) }))
