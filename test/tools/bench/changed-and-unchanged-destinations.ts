import { encodeRecord } from '../../../src/core/config-objects/object-record.ts'
import { firstKey, named, objectRecord, sealedValue } from '../../support/config-objects/example-objects.ts'
import { secret } from './forwarders/hookline.ts'
import type { Installation } from './installation-topics.ts'

export const quietSource = 'quiet'
/** The destination that the bench changes under load. */
export const probeId = 'probe'

export const sourceCount = 1_000
/**
 * Whether a source belongs to the probe: every fourth one does. Consecutive events come from the
 * sources in turn, so every fourth event shows whether the probe's change is in force.
 */
const isOfProbe = (source: number): boolean => source % 4 === 0

const allSources = Array.from({ length: sourceCount }, (_, source) => source)
const probeSources = allSources.filter(isOfProbe)
const otherSources = allSources.filter(source => !isOfProbe(source))

/**
 * The configuration object of the probe. The URL contains the number of the change, so each request
 * shows it.
 */
export const probeDocument = (url: string, change: number) => ({
  sources: probeSources.map(source => `s${source}`),
  sharedSecret: secret,
  webhooks: [{ url: `${url}/v${change}`, headers: { Authorization: 'Bearer bench' } }],
})

/**
 * The number of the change in the path of a request. Undefined if the request was not for the
 * probe.
 */
export function changeIn(path: string): number | undefined {
  const found = /\/v(\d+)$/.exec(path)?.[1]
  return found === undefined ? undefined : Number(found)
}

/**
 * Writes `count` destinations to the config topic: the probe, one for each of `otherSources`, and
 * destinations without events.
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
