import { createRequire } from 'node:module'
import { driveBrowser } from './browser-sdk.ts'
import { type Call, calls } from './calls.ts'

export interface Place {
  readonly url: string
  readonly writeKey: string
}

/**
 * Makes the calls that the SDK supports, with default settings. Resolves with these calls when all
 * are sent.
 */
export type Driver = (place: Place) => Promise<readonly Call[]>

// Loads the SDKs without their types, because these types differ.
const require = createRequire(import.meta.url)

interface ByCall {
  readonly [type: string]: (call: object, sent?: (error?: Error) => void) => void
}

const given = ({ type, timestamp, ...call }: Call): object => ({
  ...call,
  ...(timestamp !== undefined && { timestamp: new Date(timestamp) }),
})

/** For @segment/analytics-node and its fork by Customer.io. */
const segment =
  (name: string): Driver =>
  async ({ url, writeKey }) => {
    const { Analytics } = require(name)
    const analytics = new Analytics({ writeKey, host: url })
    const failures: unknown[] = []
    analytics.on('error', (error: unknown) => failures.push(error))
    for (const call of calls) (analytics as ByCall)[call.type]?.(given(call))
    await analytics.closeAndFlush()
    if (failures.length > 0) throw new AggregateError(failures, 'not sent')
    return calls
  }

const withCallbacks =
  (name: string, create: (Analytics: new (...args: unknown[]) => ByCall, place: Place) => ByCall): Driver =>
  async place => {
    const analytics = create(require(name), place)
    const sent = calls.map(
      call =>
        new Promise<void>((resolve, reject) => {
          analytics[call.type]?.(given(call), error => (error ? reject(error) : resolve()))
        }),
    )
    analytics['flush']?.(() => {})
    await Promise.all(sent)
    return calls
  }

/** For Jitsu's SDK. Its calls have a user only after `identify`, and never a timestamp. */
const jitsu =
  (s2s: boolean): Driver =>
  async ({ url, writeKey }) => {
    const { jitsuAnalytics } = require('@jitsu/js')
    const analytics = jitsuAnalytics({ host: url, writeKey: `${writeKey}:secret`, s2s })
    const made: Call[] = []
    for (const { timestamp, integrations, name, category, context, ...call } of calls) {
      switch (call.type) {
        case 'identify':
          await analytics.identify(call.userId, call.traits)
          break
        case 'track':
          if (call.anonymousId !== undefined) continue
          await analytics.track(call.event, { ...call.properties })
          break
        case 'page':
          await analytics.page({ ...call.properties })
          break
        case 'group':
          await analytics.group(call.groupId, call.traits)
          break
        default:
          continue
      }
      made.push(call)
    }
    return made
  }

export const drivers: Readonly<Record<string, Driver>> = {
  '@segment/analytics-node': segment('@segment/analytics-node'),
  'analytics-node': withCallbacks(
    'analytics-node',
    (Analytics, { url, writeKey }) => new Analytics(writeKey, { host: url }),
  ),
  '@rudderstack/rudder-sdk-node': withCallbacks(
    '@rudderstack/rudder-sdk-node',
    (Analytics, { url, writeKey }) => new Analytics(writeKey, { dataPlaneUrl: url }),
  ),
  '@customerio/cdp-analytics-node': segment('@customerio/cdp-analytics-node'),
  '@jitsu/js': jitsu(false),
  '@jitsu/js, server to server': jitsu(true),
  '@segment/analytics-next': driveBrowser,
}
