import { setTimeout as pause } from 'node:timers/promises'
import { freePorts } from '../../../../deploy/tools/local/free-ports.ts'
import { parseMetrics } from '../../../../deploy/tools/local/hookline-process.ts'
import type { ForwarderProcess, Job } from './forwarder.ts'
import { startHookline } from './hookline.ts'

const pollMs = 10

export interface ReadyProcess extends ForwarderProcess {
  /** Seconds from the start of the process until `/readyz` responds with 200. */
  readonly readyAfter: number
  /** Current metrics: `hookline_…{labels}` → value. */
  metrics(): Promise<ReadonlyMap<string, number>>
}

/** Starts a process and waits until it is ready. @throws when it exits before that */
export async function startReady(
  job: Job,
  transport: string,
  service: 'dispatcher' | 'operator',
  own: object,
): Promise<ReadyProcess> {
  const listen = `127.0.0.1:${await freePorts(1)}`
  const process = await startHookline(job, transport, service, { ...own, ops: { listen } })
  try {
    await Promise.race([becomesReady(`http://${listen}/readyz`), process.died])
  } catch (error) {
    await process.kill()
    throw error
  }
  return {
    ...process,
    readyAfter: (performance.timeOrigin + performance.now() - process.startedAt) / 1_000,
    metrics: async () => parseMetrics(await (await fetch(`http://${listen}/metrics`)).text()),
  }
}

async function becomesReady(url: string): Promise<void> {
  for (;;) {
    const response = await fetch(url).catch(() => undefined)
    await response?.arrayBuffer()
    if (response?.status === 200) return
    await pause(pollMs)
  }
}
