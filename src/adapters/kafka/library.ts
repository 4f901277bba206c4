import type * as Kafkajs from 'kafkajs'
import { registerCodecs } from './codecs.ts'
import { KafkaError } from './errors.ts'
import { internal } from './internals.ts'
import { cureAbortedRecords } from './patches/aborted-records.ts'
import { boundUnpacking } from './patches/batch-decoder.ts'
import { cureSlowChecksum } from './patches/checksum.ts'
import { cureEmptyBatch } from './patches/empty-batch.ts'
import { cureSlowGrowth } from './patches/encoder-growth.ts'
import { hookGroups, keepAssignments } from './patches/group-hooks.ts'
import { cureHugeBatch } from './patches/huge-batch.ts'
import { cureIdleTimer } from './patches/idle-timer.ts'
import { separateJoins } from './patches/join-connection.ts'
import { cureLateBatch } from './patches/late-batch.ts'
import { cureSlowLeaders } from './patches/leaders.ts'
import { cureSlowDecoding } from './patches/record-decoder.ts'
import { cureSlowEncoding } from './patches/record-encoder.ts'
import { cureRequestTimer } from './patches/request-timer.ts'
import { cureStoppedFetch } from './patches/stopped-fetch.ts'
import { cureTornAnswer } from './patches/torn-answer.ts'
import { privateModule } from './private-modules.ts'

/** The version that our patches were made for and are tested with; kafkajs gets no releases any more. */
const patchedVersion = '2.2.4'

const cures = [
  // These are replaced before what calls them is loaded.
  cureSlowChecksum,
  cureSlowDecoding,
  cureSlowEncoding,
  cureSlowGrowth,
  separateJoins,
  boundUnpacking,
  cureEmptyBatch,
  cureHugeBatch,
  cureAbortedRecords,
  cureIdleTimer,
  cureLateBatch,
  cureSlowLeaders,
  cureRequestTimer,
  cureStoppedFetch,
  cureTornAnswer,
  hookGroups,
  keepAssignments,
]

/** What we use of kafkajs's main file, which is not loaded itself: see `privateModule`. */
type Library = Pick<
  typeof Kafkajs,
  | 'AssignerProtocol'
  | 'CompressionCodecs'
  | 'CompressionTypes'
  | 'ConfigResourceTypes'
  | 'Kafka'
  | 'logLevel'
  | 'PartitionAssigners'
>
let library: Library | undefined

/**
 * kafkajs with its patches and codecs, an instance of our own: that of an application which uses the client library remains as it is.
 * @throws KafkaError `LIBRARY_VERSION` when another version is installed.
 */
export function loadKafkajs(): Library {
  if (library !== undefined) return library
  const { version } = privateModule('kafkajs/package.json').exports as { version: string }
  assertVersion(version)
  for (const cure of cures) cure()
  const compression = internal<{ Types: Library['CompressionTypes']; Codecs: Library['CompressionCodecs'] }>(
    'protocol/message/compression/index',
  )
  const loaded: Library = {
    Kafka: internal('index'),
    logLevel: internal<{ LEVELS: Library['logLevel'] }>('loggers/index').LEVELS,
    PartitionAssigners: internal('consumer/assigners/index'),
    AssignerProtocol: internal('consumer/assignerProtocol'),
    CompressionTypes: compression.Types,
    CompressionCodecs: compression.Codecs,
    ConfigResourceTypes: internal('protocol/configResourceTypes'),
  }
  registerCodecs(loaded)
  library = loaded
  return loaded
}

/** @throws KafkaError `LIBRARY_VERSION` */
export function assertVersion(version: string): void {
  if (version === patchedVersion) return
  throw new KafkaError(
    `kafkajs ${version} is installed, but its cures here hold for ${patchedVersion} only: install exactly that (npm ci)`,
    { code: 'LIBRARY_VERSION', retriable: false },
  )
}
