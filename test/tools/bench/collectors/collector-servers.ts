import { mkdtemp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePorts } from '../../../../deploy/tools/local/free-ports.ts'
import { mallocSettings, nodeFlags } from '../../../../deploy/tools/local/node-flags.ts'
import { type ForwarderProcess, type Job, startNode } from '../forwarders/forwarder.ts'
import type { ReferenceServerSettings } from './reference-server-process.ts'

export interface CollectorServer {
  readonly name: string
  start(job: Job, port: number): Promise<ForwarderProcess>
}

export interface ReferenceServer extends CollectorServer {
  readonly name: 'bare handler' | 'server that only parses'
}

const program = new URL('../../../../bin/hookline.js', import.meta.url).pathname
const referenceProgram = new URL('reference-server-process.ts', import.meta.url).pathname

/** The collector of Hookline with all features on. */
export const hooklineCollector: CollectorServer = {
  name: 'hookline',
  async start(job, port) {
    const file = join(await mkdtemp(join(job.installation.directory, 'config-')), 'hookline.json')
    const collector = { listen: `127.0.0.1:${port}` }
    await writeFile(file, JSON.stringify({ ...job.installation.base, collector }, null, 2))
    const words = ['run', '--services', 'collector', '--config', file]
    return startNode(job, program, words, { flags: nodeFlags, env: mallocSettings })
  },
}

/**
 * A fastify handler that parses the same request bodies as the collector. With `writes`, it also
 * writes each message unchanged to Kafka.
 */
export const referenceServer = (writes: boolean): ReferenceServer => ({
  name: writes ? 'bare handler' : 'server that only parses',
  start(job, port) {
    const topic = writes ? job.installation.topics.events : undefined
    const settings: ReferenceServerSettings = { port, brokers: job.stage.brokers, topic }
    return startNode(job, referenceProgram, [JSON.stringify(settings)])
  },
})

const patienceMs = 20_000

/** Starts a server on a free port. @throws when it exits or does not respond within 20 s */
export async function startAndAwait(
  server: CollectorServer,
  job: Job,
): Promise<{ readonly process: ForwarderProcess; readonly url: string }> {
  const port = await freePorts(1)
  const process = await server.start(job, port)
  const url = `http://127.0.0.1:${port}`
  const giveUpAt = performance.now() + patienceMs
  while (performance.now() < giveUpAt) {
    const answers = fetch(url).then(
      () => true,
      () => false,
    )
    if (await Promise.race([answers, process.died])) return { process, url: `${url}/v1/batch` }
    await delay(100)
  }
  await process.stop()
  throw new Error(`${server.name} does not respond after ${patienceMs / 1_000} s`)
}
