import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { type Call, calls } from './calls.ts'
import type { Driver } from './drivers.ts'

const require = createRequire(import.meta.url)
const { JSDOM, VirtualConsole } = require('jsdom')

/**
 * Runs @segment/analytics-next as a page of another origin does: one request per call, each after a
 * CORS preflight.
 */
export const driveBrowser: Driver = async ({ url, writeKey }) => {
  const failures: unknown[] = []
  const console = new VirtualConsole()
  console.on('jsdomError', (error: unknown) => failures.push(error))
  console.on('error', (error: unknown) => failures.push(error))
  const { window } = new JSDOM('<title>Shop</title>', {
    url: 'http://shop.example/cart',
    runScripts: 'outside-only',
    virtualConsole: console,
    pretendToBeVisual: true,
  })
  window.eval(await readFile(require.resolve('@segment/analytics-next/dist/umd/index.js'), 'utf8'))
  const { AnalyticsBrowser } = window['AnalyticsNext']
  const [analytics] = await AnalyticsBrowser.load(
    { writeKey, cdnURL: url },
    { integrations: { 'Segment.io': { apiHost: `${new URL(url).host}/v1`, protocol: 'http' } } },
  )
  const made: Call[] = []
  for (const { userId, anonymousId, timestamp, ...call } of calls) {
    const { properties, traits, context, integrations } = structuredClone(call)
    const options = {
      ...(context && { context }),
      ...(integrations && { integrations }),
      ...(timestamp && { timestamp: new Date(timestamp) }),
      ...(anonymousId && { anonymousId }),
    }
    switch (call.type) {
      case 'identify':
        await analytics.identify(userId, traits, options)
        break
      case 'track':
        await analytics.track(call.event, properties, options)
        break
      case 'page':
      case 'screen':
        await analytics[call.type](call.category, call.name, properties, options)
        break
      case 'group':
        await analytics.group(call.groupId, traits, options)
        break
      case 'alias':
        await analytics.alias(userId, call.previousId, options)
    }
    // The SDK keeps the user id of `identify`, even if a later call gives another anonymous id.
    made.push({ ...call, userId: 'u-1', ...(timestamp && { timestamp }), ...(anonymousId && { anonymousId }) })
  }
  window.close()
  if (failures.length > 0) throw new AggregateError(failures, failures.map(String).join('; '))
  return made
}
