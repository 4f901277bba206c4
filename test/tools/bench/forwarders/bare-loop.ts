import { randomUUID } from 'node:crypto'
import type { LoopSettings } from './bare-loop-process.ts'
import { type Forwarder, startNode, targetsOf } from './forwarder.ts'

const program = new URL('bare-loop-process.ts', import.meta.url).pathname

/** The reference loop, with which Hookline's own work is compared. */
export const bareLoop = (client: LoopSettings['client']): Forwarder => ({
  name: `bare ${client}`,
  start(job) {
    const settings: LoopSettings = {
      client,
      brokers: job.stage.brokers,
      topic: job.installation.topics.events,
      group: `${job.installation.topics.events}.bare-${randomUUID()}`,
      url: targetsOf(job)[0].url,
      inFlight: job.inFlight,
      partitions: job.installation.partitions,
    }
    return startNode(job, program, [JSON.stringify(settings)])
  },
})
