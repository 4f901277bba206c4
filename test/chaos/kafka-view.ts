import kafkajs, { type Admin } from 'kafkajs'

/** What Kafka says of the installation, asked from outside. All but `close` reject while no broker can answer. */
export interface KafkaView {
  /** What an administrator could do to it. */
  readonly admin: Admin
  /** Partition → the node that leads it, and how many replicas are in sync. */
  leaders(
    topic: string,
  ): Promise<
    ReadonlyMap<number, { readonly node: number; readonly inSync: number; readonly replicas: readonly number[] }>
  >
  /** The node that coordinates a consumer group. */
  coordinator(group: string): Promise<number>
  /** Partition → committed offset; without those that have none. */
  committed(group: string, topic: string): Promise<ReadonlyMap<number, number>>
  /** Partition → the offset of its first record. */
  beginnings(topic: string): Promise<ReadonlyMap<number, number>>
  /** Partition → the offset that its next record gets. */
  ends(topic: string): Promise<ReadonlyMap<number, number>>
  close(): Promise<void>
}

const positionsTopic = '__consumer_offsets'

export async function createKafkaView(brokers: readonly string[]): Promise<KafkaView> {
  const kafka = new kafkajs.Kafka({
    brokers: [...brokers],
    clientId: 'chaos',
    logLevel: kafkajs.logLevel.NOTHING,
    connectionTimeout: 2_000,
    requestTimeout: 5_000,
    retry: { initialRetryTime: 100, maxRetryTime: 500, retries: 8 },
  })
  const admin: Admin = kafka.admin()
  await admin.connect()

  const leaders: KafkaView['leaders'] = async topic => {
    const { topics } = await admin.fetchTopicMetadata({ topics: [topic] })
    const partitions = topics[0]?.partitions ?? []
    return new Map(
      partitions.map(({ partitionId, leader, isr, replicas }) => [
        partitionId,
        { node: leader, inSync: isr.length, replicas },
      ]),
    )
  }

  return {
    admin,
    leaders,
    // The leader of the partition of the topic of positions that the group's name falls on.
    async coordinator(group) {
      const partitions = await leaders(positionsTopic)
      return partitions.get(javaHash(group) % partitions.size)?.node ?? -1
    },
    async committed(groupId, topic) {
      const [found] = await admin.fetchOffsets({ groupId, topics: [topic] })
      const committed = (found?.partitions ?? []).map(each => [each.partition, Number(each.offset)] as const)
      return new Map(committed.filter(([, offset]) => offset >= 0))
    },
    async beginnings(topic) {
      const found = await admin.fetchTopicOffsets(topic)
      return new Map(found.map(({ partition, low }) => [partition, Number(low)]))
    },
    async ends(topic) {
      const found = await admin.fetchTopicOffsets(topic)
      return new Map(found.map(({ partition, high }) => [partition, Number(high)]))
    },
    close: () => admin.disconnect(),
  }
}

/** `String.hashCode`, without its sign as Kafka takes it. */
const javaHash = (text: string): number =>
  [...text].reduce((hash, letter) => (Math.imul(hash, 31) + letter.charCodeAt(0)) | 0, 0) & 0x7fffffff

export interface CommitWatch {
  /** Commits that went back, each in words. */
  stop(): Promise<readonly string[]>
}

const lookEveryMs = 300

/** Looks again and again how far the group has come: it may never go back, which is what a member that was given up for dead could make it do. */
export function watchCommits(view: KafkaView, group: string, topic: string): CommitWatch {
  const highest = new Map<number, number>()
  const steps: string[] = []
  const end = new AbortController()

  async function look(): Promise<void> {
    // While brokers are away nothing is seen, and nothing can be committed either.
    const committed = await view.committed(group, topic).catch(() => new Map<number, number>())
    for (const [partition, offset] of committed) {
      const before = highest.get(partition) ?? 0
      if (offset < before) steps.push(`the commit of partition ${partition} went back from ${before} to ${offset}`)
      highest.set(partition, offset)
    }
  }

  const over = (async () => {
    while (!end.signal.aborted) {
      await look()
      await pause(lookEveryMs, end.signal)
    }
    await look()
  })()
  return {
    async stop() {
      end.abort()
      await over
      return steps
    },
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}
