import { createRequire } from 'node:module'
import type * as Kafkajs from 'kafkajs'
import { registerCodecs } from './codecs.ts'
import { KafkaError } from './errors.ts'
import { cureAbortedRecords } from './patches/aborted-records.ts'
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

/** The version that our patches were made for and are tested with; kafkajs gets no releases any more. */
const patchedVersion = '2.2.4'

const cures = [
  // These are replaced before what calls them is loaded.
  cureSlowChecksum,
  cureSlowDecoding,
  cureSlowEncoding,
  cureSlowGrowth,
  separateJoins,
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

const require = createRequire(import.meta.url)
let library: typeof Kafkajs | undefined

/**
 * kafkajs with its cures and codecs; everything of ours gets it from here.
 * @throws KafkaError `LIBRARY_VERSION` when another version is installed.
 */
export function loadKafkajs(): typeof Kafkajs {
  if (library !== undefined) return library
  const { version } = require('kafkajs/package.json') as { version: string }
  assertVersion(version)
  for (const cure of cures) cure()
  const loaded = require('kafkajs') as typeof Kafkajs
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
