import { type Cluster, internal, type Metadata, replaceInternal } from './private-api.ts'

export function patchMetadata(): void {
  patchMetadataErrors()
  keepKnownPartitions()
  rejectErrorsOfNamedTopics()
  patchMetadataAge()
}

interface MetadataResponse {
  decode(bytes: Buffer): Promise<Metadata>
  parse(data: Metadata): Promise<Metadata>
}

const responseFile = 'protocol/requests/metadata/v0/response'

/**
 * Defect: kafkajs rejects the metadata of all topics if one topic does not exist, or one partition
 * has no leader (protocol/requests/metadata/v0/response.js:51).
 * Patch: keeps the metadata if at least one partition has a leader.
 * Remove when: kafkajs uses the metadata of the other topics and partitions.
 */
function patchMetadataErrors(): void {
  const { decode, parse } = internal<MetadataResponse>(responseFile)
  const parseUsable: MetadataResponse['parse'] = async data => {
    const topicMetadata = data.topicMetadata.map(topic =>
      topic.topicErrorCode === 0 ? topic : { ...topic, partitionMetadata: [] },
    )
    return topicMetadata.some(hasLeader) ? { ...data, topicMetadata } : parse(data)
  }
  replaceInternal<MetadataResponse>(responseFile, { decode, parse: parseUsable })
}

const hasLeader = ({ partitionMetadata }: Metadata['topicMetadata'][number]): boolean =>
  partitionMetadata.some(({ leader }) => leader >= 0)

interface BrokerPool {
  metadata: Metadata | null
  /** The wall-clock time until which the metadata is used; `null` without metadata. */
  metadataExpireAt: number | null
}

/**
 * Keeps the last known partitions of a topic with an error. Otherwise a rebalance during the error
 * would revoke them. A topic that does not exist keeps none.
 * Remove when: `patchMetadataErrors` is removed.
 */
function keepKnownPartitions(): void {
  const { prototype } = internal<{ prototype: BrokerPool }>('cluster/brokerPool')
  const metadataOf = new WeakMap<BrokerPool, Metadata | null>()
  Object.defineProperty(prototype, 'metadata', {
    get(this: BrokerPool): Metadata | null {
      return metadataOf.get(this) ?? null
    },
    set(this: BrokerPool, found: Metadata | null) {
      metadataOf.set(this, found && withKnownPartitions(found, this.metadata))
    },
  })
}

function withKnownPartitions(found: Metadata, known: Metadata | null): Metadata {
  const topicMetadata = found.topicMetadata.map(each => {
    if (each.topicErrorCode === 0 || each.topicErrorCode === unknownTopicOrPartition) return each
    const { partitionMetadata = [] } = known?.topicMetadata.find(({ topic }) => topic === each.topic) ?? {}
    return { ...each, partitionMetadata }
  })
  return { ...found, topicMetadata }
}

/**
 * Makes `metadata` and `addMultipleTargetTopics` reject with the errors that `patchMetadataErrors`
 * hides, but only for the requested or newly added topics.
 * Remove when: `patchMetadataErrors` is removed.
 */
function rejectErrorsOfNamedTopics(): void {
  const { prototype } = internal<{ prototype: Cluster }>('cluster')
  const { metadata, addMultipleTargetTopics } = prototype
  prototype.metadata = async function (this: Cluster, request = {}) {
    const { topics = [] } = request
    const found = await metadata.call(this, request)
    // kafkajs resolves with null when no broker has responded with metadata.
    if (found === null && topics.length > 0) throw brokerError(leaderNotAvailable)
    rejectErrors(found, topics)
    return found
  }
  prototype.addMultipleTargetTopics = async function (this: Cluster, topics) {
    const added = topics.filter(topic => !this.targetTopics.has(topic))
    await addMultipleTargetTopics.call(this, topics)
    try {
      rejectErrors(this.brokerPool.metadata, added)
    } catch (error) {
      for (const topic of added) this.targetTopics.delete(topic)
      throw error
    }
  }
}

/** Throws the error of the first topic in `topics` that has an error. */
export function rejectErrors(metadata: Metadata | null, topics: readonly string[]): void {
  const failed = metadata?.topicMetadata.find(
    ({ topic, topicErrorCode }) => topicErrorCode !== 0 && topics.includes(topic),
  )
  if (failed !== undefined) throw brokerError(failed.topicErrorCode)
}

/** Kafka's error code UNKNOWN_TOPIC_OR_PARTITION. */
const unknownTopicOrPartition = 3
/** Kafka's error code LEADER_NOT_AVAILABLE. */
export const leaderNotAvailable = 5

/** Creates kafkajs's error for an error code of a broker. */
export const brokerError = (code: number): Error =>
  internal<{ createErrorFromCode(code: number): Error }>('protocol/error').createErrorFromCode(code)

/** Maximum age of metadata with an error. It is short, so that a client finds new leaders soon. */
const incompleteMaxAgeMs = 1_000

/**
 * Defect: kafkajs measures the age of metadata with the wall clock (cluster/brokerPool.js:159),
 * which may be set back.
 * Patch: stores the expiry in monotonic time. Metadata with an error, which only
 * `patchMetadataErrors` lets through, expires after `incompleteMaxAgeMs`.
 * Remove when: kafkajs uses a monotonic clock, and `patchMetadataErrors` is removed.
 */
function patchMetadataAge(): void {
  const { prototype } = internal<{ prototype: BrokerPool }>('cluster/brokerPool')
  /** The expiry of each pool's metadata, in monotonic milliseconds. */
  const expiresAt = new WeakMap<BrokerPool, number>()
  Object.defineProperty(prototype, 'metadataExpireAt', {
    get(this: BrokerPool): number | null {
      const end = expiresAt.get(this)
      return end === undefined ? null : Date.now() + end - performance.now()
    },
    set(this: BrokerPool, until: number | null) {
      if (until === null) {
        expiresAt.delete(this)
        return
      }
      const limit =
        this.metadata !== null && isIncomplete(this.metadata) ? incompleteMaxAgeMs : Number.POSITIVE_INFINITY
      expiresAt.set(this, performance.now() + Math.min(limit, until - Date.now()))
    },
  })
}

const isIncomplete = ({ topicMetadata }: Metadata): boolean =>
  topicMetadata.some(
    ({ topicErrorCode, partitionMetadata }) =>
      topicErrorCode !== 0 || partitionMetadata.some(({ leader }) => leader < 0),
  )
