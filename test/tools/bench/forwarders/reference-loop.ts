import { randomUUID } from 'node:crypto'
import type { ReferenceLoopName } from '../figure-names.ts'
import { type Forwarder, startNode, targetsOf } from './forwarder.ts'
import type { LoopSettings } from './reference-loop-process.ts'

const program = new URL('reference-loop-process.ts', import.meta.url).pathname

/**
 * A minimal forwarder with kafkajs and an HTTP client: its cost is the lower bound for the cost of
 * Hookline.
 */
export const referenceLoop = (client: LoopSettings['client']): Forwarder & { readonly name: ReferenceLoopName } => ({
  name: `reference loop with ${client}`,
  start(job) {
    const targets = targetsOf(job)
    const settings: LoopSettings = {
      client,
      brokers: job.stage.brokers,
      topic: job.installation.topics.events,
      group: `${job.installation.topics.events}.reference-loop-${randomUUID()}`,
      url: targets[0].url,
      hosts: targets.length,
      inFlight: job.inFlight,
      partitions: job.installation.partitions,
    }
    return startNode(job, program, [JSON.stringify(settings)])
  },
})
