import { readdir, readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { processClock as clock } from '../../../src/adapters/clock/process-clock.ts'
import { createKafka } from '../../../src/adapters/kafka/kafkajs/client.ts'
import { createReader } from '../../../src/adapters/kafka/log/topic-reader.ts'
import type { LogRecord } from '../../../src/core/ports.ts'
import { silent } from '../telemetry/silent-logger.ts'
import { batchesOf } from './log-segment-batches.ts'
import { type FoundSecret, findSecrets } from './make-and-find-test-secrets.ts'

/**
 * Searches for secrets in the bytes of a broker's segments, and in the records of topics with
 * compressed batches. Resolves with a line per secret or unreadable topic.
 */
export async function scanBroker(logDir: string, brokers: readonly string[]): Promise<readonly string[]> {
  const found: string[] = []
  const compressed = new Set<string>()
  for (const file of await filesIn(logDir)) {
    const bytes = await readFile(file).catch(() => undefined)
    // Kafka can delete a file between the listing and the read.
    if (bytes === undefined) continue
    const partition = basename(dirname(file))
    const batches = file.endsWith('.log') ? [...batchesOf(bytes)] : []
    const topic = topicOf(partition)
    if (topic !== undefined && batches.some(({ isCompressed }) => isCompressed)) compressed.add(topic)
    for (const secret of findSecrets(bytes)) {
      const batch = batches.find(({ end }) => secret.at < end)
      const where = batch === undefined ? `byte ${secret.at}` : `the batch with offset ${batch.baseOffset}`
      found.push(`${partition}/${basename(file)}, ${where}: ${describe(secret)}`)
    }
  }
  return [...found, ...(await scanTopics(compressed, brokers))]
}

async function scanTopics(topics: Iterable<string>, brokers: readonly string[]): Promise<readonly string[]> {
  const kafka = createKafka({ brokers, clientId: 'secret-scan', tls: undefined, sasl: undefined }, silent)
  const reader = createReader({ kafka, clock, logger: silent })
  const found: string[] = []
  for (const topic of topics)
    await reader
      .readToEnd(topic, record => {
        for (const secret of findSecrets(bytesOf(record)))
          found.push(`${topic}-${record.partition}, offset ${record.offset}: ${describe(secret)}`)
      })
      .catch((error: NodeJS.ErrnoException) => {
        // Kafka can delete the topic after its files were read.
        if (error.code !== 'TOPIC_MISSING') found.push(`${topic}: its compressed records could not be read: ${error}`)
      })
  return found
}

const describe = ({ marker, form }: FoundSecret): string => `a secret with '${marker}' in ${form}`

const bytesOf = ({ key, value, headers }: LogRecord): Buffer =>
  Buffer.concat([key ?? Buffer.of(), Buffer.of(0), value ?? Buffer.of(), Buffer.from(JSON.stringify(headers))])

/**
 * The topic of a partition's directory. Undefined if Kafka has marked the directory for deletion.
 */
const topicOf = (partition: string): string | undefined =>
  partition.endsWith('-delete') ? undefined : partition.replace(/-\d+$/, '')

/**
 * All files except the indexes. An index contains only numbers, and Kafka allocates 10 MB for it.
 */
async function filesIn(directory: string): Promise<readonly string[]> {
  const entries = await readdir(directory, { withFileTypes: true })
  const files = entries.map(each => {
    const path = join(directory, each.name)
    // Kafka can delete a directory between two listings.
    if (each.isDirectory()) return filesIn(path).catch(unlessGone)
    return each.isFile() && !/\.(time)?index$/.test(each.name) ? [path] : []
  })
  return (await Promise.all(files)).flat()
}

function unlessGone(error: NodeJS.ErrnoException): [] {
  if (error.code !== 'ENOENT') throw error
  return []
}
