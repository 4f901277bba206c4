import type * as Kafkajs from 'kafkajs'
import { registerCodecs } from './compression-codecs.ts'
import { KafkaError } from './errors.ts'
import { patchConnections } from './patch-connections.ts'
import { patchConsumerGroup } from './patch-consumer-group.ts'
import { patchFetchErrors } from './patch-fetch-errors.ts'
import { patchFetchedBatches } from './patch-fetched-batches.ts'
import { patchIpv6BootstrapAddresses } from './patch-ipv6-bootstrap-addresses.ts'
import { patchLeaderLookup } from './patch-leader-lookup.ts'
import { patchMetadata } from './patch-metadata.ts'
import { patchRecordDecoder } from './patch-record-decoder.ts'
import { patchRecordEncoder } from './patch-record-encoder.ts'
import { internal, privateModule } from './private-api.ts'

/** The only version that the patches support. kafkajs has had no release since 2023. */
const patchedVersion = '2.2.4'

/**
 * The patches in their order: a patch that replaces a module must run before other modules load it.
 */
const patches = [
  patchRecordEncoder,
  patchRecordDecoder,
  patchConnections,
  patchIpv6BootstrapAddresses,
  patchFetchErrors,
  patchFetchedBatches,
  patchMetadata,
  patchLeaderLookup,
  patchConsumerGroup,
]

/**
 * The exports of kafkajs that Hookline uses. They are loaded from internal files: the hook of a
 * tracing agent on the main file can return an unpatched instance of kafkajs.
 */
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
 * Loads a private, patched instance of kafkajs. If an application uses Hookline's client library
 * and kafkajs, the application's own instance of kafkajs stays unpatched.
 * @throws KafkaError `LIBRARY_VERSION` for another version
 */
export function loadKafkajs(): Library {
  if (library !== undefined) return library
  const { version } = privateModule('kafkajs/package.json').exports as { version: string }
  assertVersion(version)
  for (const patch of patches) patch()
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

/** @throws KafkaError `LIBRARY_VERSION` when `version` is not the one that the patches support */
export function assertVersion(version: string): void {
  if (version === patchedVersion) return
  throw new KafkaError(`kafkajs ${version} is installed, but Hookline requires exactly ${patchedVersion}: run npm ci`, {
    code: 'LIBRARY_VERSION',
    retriable: false,
  })
}
