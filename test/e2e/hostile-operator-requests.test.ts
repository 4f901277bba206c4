import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from '@jest/globals'
import { operateKey, startConsoleInstallation } from '../support/browser/console-installation.ts'
import { closingAfterEach } from '../support/cleanup.ts'
import { sendHostile } from '../support/collector/hostile-requests.ts'
import { hostileOperatorRequests } from '../support/operator/hostile-operator-requests.ts'
import { blockedSince, longestBlock, probe, startIdleProcess } from '../support/process/event-loop-probe-results.ts'

const closing = closingAfterEach()

/** Number of requests. Another SEED gives other requests. */
const count = Number(process.env['HOSTILE_REQUESTS'] ?? 1_000)
const seed = Number(process.env['SEED'] ?? 1)
/** Heap limit in MiB, as in the chart: 60 % of 512 MiB. */
const heapMiB = 307

it(`an operator listener with the heap of the chart survives ${count} hostile requests, and none blocks its event loop`, async () => {
  const directory = await mkdtemp(join(tmpdir(), 'hookline-hostile-'))
  closing({ close: () => rm(directory, { recursive: true }) })
  const [probeFile, idleFile] = [join(directory, 'blocked'), join(directory, 'blocked-idle')]
  closing(startIdleProcess(idleFile))
  const own = { NODE_OPTIONS: `--max-old-space-size=${heapMiB} --import ${probe}`, LOOP_PROBE_FILE: probeFile }
  const audiences = { list: [{ name: 'Shoppers', kind: 'audience', destinations: ['crm'] }] }
  const { service, url } = closing(
    await startConsoleInstallation({ audiences }, { own, words: ['--services', 'operator'] }),
  )
  const signedIn = await fetch(`${url}/v1/session`, { method: 'POST', body: JSON.stringify({ key: operateKey }) })
  const { csrfToken } = (await signedIn.json()) as { csrfToken: string }
  const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? ''
  // The name of the cookie has the port of the header Host.
  const session = { Host: new URL(url).host, Cookie: cookie, 'X-CSRF-Token': csrfToken }
  const destinations = async (): Promise<number> => (await fetch(`${url}/v1/destinations`, { headers: session })).status
  expect(await destinations()).toBe(200)
  const startedAt = Date.now()

  const request = hostileOperatorRequests({ seed, operatorKey: operateKey, session })
  const statuses = await sendHostile(url, request, { to: count, concurrency: 8 })

  const answers = [...statuses.values()]
  expect([...statuses].filter(([, status]) => status === 500)).toEqual([])
  expect(answers.filter(status => status > 0).length).toBeGreaterThan(0.8 * statuses.size)
  expect(answers.filter(status => status === 429).length).toBeLessThan(0.2 * statuses.size)
  expect(await destinations()).toBe(200)
  const blocked = await blockedSince(probeFile, startedAt, idleFile)
  expect(blocked.cpuMs).toBeLessThan(longestBlock.cpuMs)
  expect(blocked.wallMs).toBeLessThan(longestBlock.wallMs)
  const metrics = await service.metrics()
  expect(metrics.get('hookline_operator_answers_total{code="internal_error"}') ?? 0).toBe(0)
  expect(await service.stop()).toBe(0)
}, 1_800_000)
