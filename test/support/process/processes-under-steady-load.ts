import { setTimeout as pause } from 'node:timers/promises'
import type { RunningService } from '../../../deploy/tools/local/hookline-process.ts'
import { processClock as clock } from '../../../src/adapters/clock/process-clock.ts'
import { fixedTiers } from '../../../src/core/fixed-retry-tiers.ts'
import type { OutgoingRecord } from '../../../src/core/ports.ts'
import { trackMessage } from '../collector/normalised-track-message.ts'
import { type AdminClient, type CommittedPosition, createAdminClient, until } from '../kafka/admin.ts'
import { RecordedDeliveries } from '../webhook/receiver-recording-sender-and-time.ts'
import { type Observed, progressFaults } from './delivery-findings.ts'
import { partitionOf, partitions } from './message-ids-with-partition-offsets.ts'
import { startInstallation, type TestInstallation } from './test-installation.ts'

/** `size` records every `everyMs` ms: 500 records per second. */
const batch = { size: 25, everyMs: 50 }
const lookEveryMs = 100
/** Time limit, after the load, for all deliveries and their retries. */
const settleLimitMs = 60_000

export interface FleetProcess {
  readonly name: string
  readonly service: RunningService
}

export class Fleet {
  readonly receiver: RecordedDeliveries
  readonly processes: FleetProcess[] = []
  /** Time just before the write, by message id. */
  readonly sent = new Map<string, number>()
  readonly #installation: TestInstallation
  readonly #admin: AdminClient
  #count = 0
  #isLoading = true
  #loading: Promise<void> = Promise.resolve()
  readonly #watchEnd = new AbortController()
  #watching: Promise<readonly string[]> = Promise.resolve([])

  private constructor(installation: TestInstallation, receiver: RecordedDeliveries, admin: AdminClient) {
    this.#installation = installation
    this.receiver = receiver
    this.#admin = admin
  }

  /** `latencyMs` is the delay of the n-th response; by default 20 to 200 ms. */
  static async started(size: number, latencyMs = (count: number): number => 20 + ((count * 37) % 180)): Promise<Fleet> {
    const receiver = await RecordedDeliveries.started(latencyMs)
    try {
      return await Fleet.#startedWith(receiver, size)
    } catch (error) {
      await receiver.close()
      throw error
    }
  }

  static async #startedWith(receiver: RecordedDeliveries, size: number): Promise<Fleet> {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the configuration puts the environment's value in.
    const headers = { 'X-Process': '${TEST_PROCESS:-none}' }
    const installation = await startInstallation({
      topics: { partitions, replicationFactor: 1 },
      destinations: [{ id: 'crm', sources: ['web'], webhooks: [{ url: receiver.url, headers }] }],
    })
    const fleet = new Fleet(installation, receiver, await createAdminClient())
    await Promise.all(Array.from({ length: size }, () => fleet.start()))
    await fleet.balanced()
    fleet.#watching = fleet.#watch()
    fleet.#loading = fleet.#load()
    await fleet.eachPartitionDelivers()
    return fleet
  }

  async start(): Promise<FleetProcess> {
    const name = `process-${++this.#count}`
    const service = await this.#installation.run({ TEST_PROCESS: name })
    const process = { name, service }
    this.processes.push(process)
    return process
  }

  take(index = 0): FleetProcess {
    const [taken] = this.processes.splice(index, 1)
    if (taken === undefined) throw new Error(`there is no process ${index}`)
    return taken
  }

  get observed(): Observed {
    return { sent: this.sent, seen: this.receiver.seen }
  }

  /** Resolves with the partitions of each member when `count` members share them evenly. */
  balanced(count = this.processes.length): Promise<ReadonlyMap<string, readonly number[]>> {
    const share = Math.floor(partitions / count)
    return until(async () => {
      const members = await this.members()
      const counts = [...(members?.values() ?? [])].map(({ length }) => length)
      const isFair = counts.length === count && counts.every(each => each === share || each === share + 1)
      return isFair && counts.reduce((sum, each) => sum + each, 0) === partitions ? members : undefined
    })
  }

  members(): Promise<ReadonlyMap<string, readonly number[]> | undefined> {
    return this.#admin.members(this.#installation.topics.dispatcherGroup, this.#installation.topics.events)
  }

  positions(): Promise<readonly CommittedPosition[]> {
    return this.#admin.positions(this.#installation.topics.dispatcherGroup, this.#installation.topics.events)
  }

  /** Resolves when at least one offset is committed. */
  progress(): Promise<readonly CommittedPosition[]> {
    return until(async () => {
      const now = await this.positions()
      return now.some(({ offset }) => offset > 0) ? now : undefined
    })
  }

  /** Resolves when each partition has delivered a message sent after this call. */
  async eachPartitionDelivers(): Promise<void> {
    const since = performance.now()
    const missing = new Set(Array.from({ length: partitions }, (_, partition) => partition))
    let looked = this.receiver.seen.length
    await this.receiver.until(() => {
      for (; looked < this.receiver.seen.length; looked++) {
        const id = this.receiver.seen[looked]?.id as string
        if ((this.sent.get(id) ?? 0) > since) missing.delete(partitionOf(id))
      }
      return missing.size === 0
    })
  }

  /**
   * Ends the load, waits for all deliveries or the time limit, and stops the processes. Resolves
   * with their exit codes.
   */
  async settled(): Promise<readonly (number | null)[]> {
    this.#isLoading = false
    await this.#loading
    const over = new AbortController()
    const limit = pause(settleLimitMs, undefined, { signal: over.signal }).catch(() => undefined)
    await Promise.race([this.receiver.until(() => this.receiver.delivered.size === this.sent.size), limit])
    over.abort()
    return Promise.all(this.processes.map(({ service }) => service.stop()))
  }

  /** Ends the check of the committed positions, and resolves with its errors. */
  progressFaults(): Promise<readonly string[]> {
    this.#watchEnd.abort()
    return this.#watching
  }

  async close(): Promise<void> {
    this.#isLoading = false
    await this.#loading
    await this.progressFaults()
    await this.#installation.close()
    await this.#admin.close()
    await this.receiver.close()
  }

  async #watch(): Promise<readonly string[]> {
    const faults: string[] = []
    const { signal } = this.#watchEnd
    for (let last = await this.positions(), isLast = false; !isLast; ) {
      await pause(lookEveryMs, undefined, { signal }).catch(() => undefined)
      isLast = signal.aborted
      const now = await this.positions()
      const isDelivered = (id: string): boolean => this.receiver.delivered.has(id)
      if (progressFaults(last, now, isDelivered).length > 0) {
        const waiting = await this.#idsInRetryTopics()
        faults.push(...progressFaults(last, now, id => isDelivered(id) || waiting.has(id)))
      }
      last = now
    }
    return faults
  }

  /** On a busy machine, some requests time out, and their messages are written to retry topics. */
  async #idsInRetryTopics(): Promise<ReadonlySet<string>> {
    const { topics, read } = this.#installation
    const records = await Promise.all(fixedTiers.map(tier => read(topics.retry(tier))))
    return new Set(records.flat().map(({ key }) => String(key)))
  }

  async #load(): Promise<void> {
    for (let count = 0; this.#isLoading; count += batch.size) {
      const due = pause(batch.everyMs)
      const ids = Array.from({ length: batch.size }, (_, index) => `${(count + index) % partitions}-${count + index}`)
      for (const id of ids) this.sent.set(id, performance.now())
      await this.#installation.write(
        this.#installation.topics.events,
        ids.map(id => this.#recordOf(id)),
      )
      await due
    }
  }

  /** Each record has its own user, so that no record waits for an earlier one. */
  #recordOf(id: string): OutgoingRecord {
    const value = this.#installation.codec.encode({
      sourceId: 'web',
      destinationId: undefined,
      receivedAt: clock.now(),
      canonical: true,
      origin: undefined,
      message: trackMessage(id, { userId: id }),
    })
    return { key: Buffer.from(id), value, headers: {}, partition: partitionOf(id) }
  }
}
