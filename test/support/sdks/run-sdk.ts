import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Call } from './calls.ts'
import type { Place } from './drivers.ts'

export interface Sdk {
  readonly name: string
  /**
   * Types of calls to whose properties the SDK adds values. `integrations`: the SDK adds values to
   * the `integrations` of each call.
   */
  readonly addsTo: readonly (Call['type'] | 'integrations')[]
}

export const sdks: readonly Sdk[] = [
  { name: '@segment/analytics-node', addsTo: ['page'] },
  { name: 'analytics-node', addsTo: [] },
  { name: '@rudderstack/rudder-sdk-node', addsTo: [] },
  { name: '@customerio/cdp-analytics-node', addsTo: ['page'] },
  { name: '@jitsu/js', addsTo: [] },
  { name: '@jitsu/js, server to server', addsTo: [] },
  { name: '@segment/analytics-next', addsTo: ['page', 'integrations'] },
]

const main = new URL('sdk-process.ts', import.meta.url).pathname

export async function runSdk(name: string, { url, writeKey }: Place): Promise<readonly Call[]> {
  const { stdout } = await promisify(execFile)(process.execPath, [main, name, url, writeKey], { timeout: 150_000 })
  return JSON.parse(stdout)
}
