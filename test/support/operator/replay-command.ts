import { type ReplayAccess, replayCommand } from '../../../src/app/commands/replay.ts'
import type { CommandIo } from '../../../src/app/create-command.ts'
import { encodeJob, type Job, jobKeyOf } from '../../../src/core/jobs/job.ts'
import type { OutgoingRecord } from '../../../src/core/ports.ts'
import { configFolder } from '../config/config-folder.ts'
import { MemoryTopicsProducer, whileWriting } from '../kafka/memory-topics-for-replays.ts'
import { runCommand } from '../process/in-process-command.ts'
import { ReplayHarness, topics } from './replay-harness.ts'

const folder = await configFolder({
  'hookline.yaml': `
kafka: { brokers: ["127.0.0.1:1"] }
registry: { url: "http://127.0.0.1:1" }
sources: [{ id: web, writeKey: secret-key }]
destinations:
  - { id: crm, sources: [web], webhooks: [{ url: "https://crm.example.com/" }] }
  - { id: "off", enabled: false, sources: [web], webhooks: [{ url: "https://off.example.com/" }] }
`,
})

interface Given extends NonNullable<Parameters<typeof runCommand>[1]> {
  readonly refuses?: MemoryTopicsProducer['refuses']
  readonly access?: Partial<ReplayAccess>
  readonly jobs?: readonly Job[]
  /** Age of the records of the jobs topic, in ms. */
  readonly jobsAgeMs?: number
}

/**
 * Runs `hookline replay`. The destinations `crm` and `off` are configured, and `off` is disabled.
 */
export async function runReplay(deadLetters: readonly OutgoingRecord[], argv: readonly string[], given: Given = {}) {
  const harness = new ReplayHarness(deadLetters)
  const { refuses, access, jobs = [], jobsAgeMs = 0, ...io } = given
  for (const job of jobs)
    harness.memoryTopics.write(topics.jobs, {
      key: Buffer.from(jobKeyOf(job)),
      value: Buffer.from(encodeJob(job)),
      ...{ headers: {}, partition: 0 },
    })
  await harness.clock.advance(jobsAgeMs)
  const producer = new MemoryTopicsProducer(harness.memoryTopics, refuses)
  const { clock, events, inputs, countPartitions } = harness
  const open = () => ({
    reader: harness.memoryTopics.reader(),
    producer,
    clock,
    events,
    inputs,
    countPartitions,
    close: producer.stop,
    ...access,
  })
  const load = async () => (commandIo: CommandIo) => replayCommand(commandIo, open)
  const running = runCommand(['replay', '--config', `${folder}/hookline.yaml`, ...argv], io, [
    { name: 'replay', summary: '', load },
  ])
  const result = await whileWriting(producer, running)
  return { ...result, harness, producer }
}
