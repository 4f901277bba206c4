import { randomUUID } from 'node:crypto'
import { type Forwarder, startNode, targetsOf } from './forwarder.ts'
import type { LoopSettings } from './reference-loop-process.ts'

const program = new URL('reference-loop-process.ts', import.meta.url).pathname

/** The reference loop, with which Hookline's own work is compared. */
export const referenceLoop = (client: LoopSettings['client']): Forwarder => ({
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
