import type { TopicPartition } from '../../../core/ports.ts'
import { errorCodeOf } from './errors.ts'
import { internal, replaceInternal } from './private-api.ts'

/** A partition that its broker cannot read, with the error code of the broker. */
export interface UnreadablePartition extends TopicPartition {
  readonly code: string
}

interface FetchResponse {
  readonly responses: readonly {
    readonly topicName: string
    readonly partitions: readonly { readonly partition: number; readonly errorCode: number }[]
  }[]
}

interface ResponseParser {
  parse(response: FetchResponse): Promise<FetchResponse>
}

/**
 * The error codes of unreadable data: UNKNOWN (for example an I/O error), CORRUPT_MESSAGE and
 * KAFKA_STORAGE_ERROR (a failed disk).
 */
const unreadableCodes: ReadonlySet<number> = new Set([-1, 2, 56])

/** The unreadable partitions of a failed fetch, by the error that kafkajs throws for it. */
const partitionsOf = new WeakMap<Error, readonly UnreadablePartition[]>()

/**
 * Returns the unreadable partitions of the fetch that failed with `error`; none if the error has
 * another cause.
 */
export const unreadablePartitionsIn = (error: unknown): readonly UnreadablePartition[] =>
  partitionsOf.get(error as Error) ?? []

/**
 * Defect: kafkajs throws the error of one partition for the whole fetch response, without naming
 * the partition (protocol/requests/fetch/v0/response.js:46).
 * Patch: notes for each error which partitions cannot be read.
 * Remove when: kafkajs reports the errors of a fetch by partition.
 */
export function patchFetchErrors(): void {
  const file = 'protocol/requests/fetch/v0/response'
  const original = internal<ResponseParser>(file)
  const { createErrorFromCode } = internal<{ createErrorFromCode: (code: number) => Error }>('protocol/error')

  replaceInternal<ResponseParser>(file, {
    ...original,
    async parse(response) {
      try {
        return await original.parse(response)
      } catch (error) {
        const failed = response.responses
          .flatMap(({ topicName: topic, partitions }) => partitions.map(of => ({ ...of, topic })))
          .filter(({ errorCode }) => errorCode !== 0)
        // `error` is the error of the first failed partition.
        if (unreadableCodes.has(failed[0]?.errorCode ?? 0))
          partitionsOf.set(
            error as Error,
            failed
              .filter(({ errorCode }) => unreadableCodes.has(errorCode))
              .map(({ topic, partition, errorCode }) => {
                return { topic, partition, code: errorCodeOf(createErrorFromCode(errorCode)) }
              }),
          )
        throw error
      }
    },
  })
}
