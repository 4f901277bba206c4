import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import { Analytics as SegmentAnalytics } from '@segment/analytics-node'
import { Analytics } from '../../../../packages/client/src/index.ts'
import { kafkaTransport } from '../../../../packages/client-kafka/src/index.ts'
import type { Order, Result, Work } from './client-protocol.ts'
import { call } from './sample-message.ts'

/*
 * Prints the cost of calls with one client. All options are its defaults, except those for a full
 * queue and failures.
 */

interface Client {
  /** Returns true, or a promise of true that waits while the queue is full. */
  track(message: ReturnType<typeof call>): boolean | Promise<boolean>
  close(): Promise<unknown>
}

const order = JSON.parse(process.argv[2] ?? '') as Order
const chunk = 100
const warmUp = 2_000

function createClient({ client, url, kafka, sourceId, work }: Order): Client {
  if (client === 'segment') {
    const analytics = new SegmentAnalytics({ writeKey: 'key', host: url })
    analytics.on('error', () => {})
    return {
      track(message) {
        analytics.track(message)
        return true
      },
      close: () => analytics.closeAndFlush(),
    }
  }
  const queue = { onFull: work.isOutage ? 'drop-oldest' : 'wait', onFailure: () => {} } as const
  const analytics =
    client === 'hookline'
      ? new Analytics('key', { endpoint: url, ...queue })
      : new Analytics({
          transport: kafkaTransport({ source: sourceId, ...kafka, registry: { url: kafka.registry } }),
          ...queue,
        })
  return { track: message => analytics.track(message).then(() => true), close: () => analytics.close() }
}

/** Resolves with the total time in ms inside `count` calls of `track`. */
async function makeCalls(client: Client, count: number, perSecond: number | undefined): Promise<number> {
  const start = performance.now()
  let inside = 0
  for (let made = 0; made < count; ) {
    const messages = Array.from({ length: chunk }, (_, index) => call(made + index))
    const before = performance.now()
    let last: unknown
    for (const message of messages) last = client.track(message)
    inside += performance.now() - before
    made += chunk
    await last
    const ahead = perSecond === undefined ? 0 : start + (made / perSecond) * 1_000 - performance.now()
    await (ahead > 1 ? delay(ahead) : nextTurn())
  }
  return inside
}

async function measure({ calls, perSecond, isOutage }: Work): Promise<Result> {
  const client = createClient(order)
  await makeCalls(client, warmUp, perSecond)
  const [cpu, start] = [process.cpuUsage(), performance.now()]
  const inside = await makeCalls(client, calls, perSecond)
  if (!isOutage) await client.close()
  const { user, system } = process.cpuUsage(cpu)
  return {
    microsACall: (inside * 1_000) / calls,
    cpuMicrosAMessage: (user + system) / calls,
    perSecond: (calls * 1_000) / (performance.now() - start),
    peakMb: (process.resourceUsage().maxRSS * 1_024) / 1e6,
    calls: calls + warmUp,
  }
}

const result = await measure(order.work)
process.stdout.write(JSON.stringify(result), () => process.exit())
