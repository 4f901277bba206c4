import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from '@jest/globals'
import type { RunningService } from '../../deploy/tools/local/hookline-process.ts'
import { closingAfterEach } from '../support/cleanup.ts'
import { hostileRequests, sendHostile } from '../support/collector/hostile-requests.ts'
import { basic } from '../support/network/http-bytes.ts'
import { blockedSince } from '../support/process/blocked-time.ts'
import { startInstallation, webKey } from '../support/process/test-installation.ts'

const closing = closingAfterEach()

/** Number of requests. Use 10,000 for a long run. Another SEED gives other requests. */
const count = Number(process.env['HOSTILE_REQUESTS'] ?? 120)
const seed = Number(process.env['SEED'] ?? 1)
/** Heap limit in MiB, as in the chart: 60 % of 512 MiB. */
const heapMiB = 307
/** Maximum time for which the event loop may be blocked, in ms of CPU time. */
const longestBlock = 250

async function postPage({ collector }: RunningService, messageId: string): Promise<number> {
  const response = await fetch(`${collector}/v1/batch`, {
    method: 'POST',
    headers: { authorization: basic(webKey) },
    body: JSON.stringify({ batch: [{ type: 'page', userId: 'u', messageId }] }),
  })
  return response.status
}

it(`a collector with the heap of the chart survives ${count} hostile requests, and none blocks its event loop`, async () => {
  const directory = await mkdtemp(join(tmpdir(), 'hookline-hostile-'))
  closing({ close: () => rm(directory, { recursive: true }) })
  const probeFile = join(directory, 'blocked')
  const probe = new URL('../support/process/event-loop-probe.ts', import.meta.url).href
  const installation = closing(await startInstallation({}))
  const own = { NODE_OPTIONS: `--max-old-space-size=${heapMiB} --import ${probe}`, LOOP_PROBE_FILE: probeFile }
  const service = await installation.run(own, ['--services', 'collector'])
  expect(await postPage(service, 'before')).toBe(200)
  const startedAt = Date.now()

  const request = hostileRequests({ seed, writeKey: webKey })
  const statuses = await Promise.race([
    sendHostile(service.collector ?? '', request, { to: count, concurrency: 8 }),
    service.exited.then(code => {
      throw new Error(`the collector ended with ${code}`)
    }),
  ])

  const expected = [0, 200, 400, 401, 404, 408, 411, 413, 414, 431, 501, 503]
  expect([...statuses].filter(([, status]) => !expected.includes(status))).toEqual([])
  expect([...statuses].filter(([, status]) => status > 0).length).toBeGreaterThan(0.8 * statuses.size)
  expect(await postPage(service, 'after')).toBe(200)
  expect(await blockedSince(probeFile, startedAt)).toBeLessThan(longestBlock)
  const metrics = await service.metrics()
  expect(metrics.get('hookline_collector_answers_total{code="internal_error"}')).toBe(0)
  expect(metrics.get('hookline_collector_held_bytes{what="bodies"}')).toBe(0)
  expect(await service.stop()).toBe(0)
}, 1_800_000)
