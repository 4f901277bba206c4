import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Java, javaFlags } from './java.ts'
import { fetchWithMaven } from './maven.ts'
import { newId, serverProperties } from './server-properties.ts'
import { cacheDirectory, makeOnce } from './user-cache.ts'

const run = promisify(execFile)
const pom = join(import.meta.dirname, 'pom.xml')

/** Kafka's own jars, and what a data directory of this Kafka version starts from. */
export interface KafkaJars {
  readonly directory: string
  readonly classPath: string
  /** The files of a freshly formatted log directory, without the identity of a cluster. */
  readonly formatted: string
}

const directory = (): string => {
  const text = readFileSync(pom, 'utf8')
  const version = /<artifactId>kafka_2\.13<\/artifactId>\s*<version>([^<]+)/.exec(text)?.[1]
  return join(cacheDirectory(), `kafka-${version}-${createHash('sha256').update(text).digest('hex').slice(0, 8)}`)
}

/** Whether the jars are here already, so that neither Maven nor a network is needed. */
export const kafkaJarsAreCached = (): boolean => existsSync(directory())

/** The jars in the user's cache, fetched with Maven (45 MB) when this is the first time. */
export async function kafkaJars(java: Java): Promise<KafkaJars> {
  const root = await makeOnce(directory(), async temporary => {
    await mkdir(temporary)
    const lib = join(temporary, 'lib')
    const args = ['--file', pom, '-DincludeScope=runtime', `-DoutputDirectory=${lib}`]
    await fetchWithMaven('Kafka (45 MB)', 'copy-dependencies', args)
    await format(java, temporary)
  })
  return { directory: root, classPath: join(root, 'lib', '*'), formatted: join(root, 'formatted') }
}

/**
 * Kafka's own tool formats one log directory, whose files are kept as the template of all others: they hold the feature levels (a
 * hand-written meta.properties alone leaves `group.version` at 0) and are the same for every cluster with static voters. Saves a JVM per broker.
 */
async function format(java: Java, root: string): Promise<void> {
  const logDir = join(root, 'formatted')
  const properties = join(root, 'format.properties')
  await writeFile(properties, serverProperties({ logDir, port: 9092, controllerPort: 9093 }))
  const tool = ['-cp', join(root, 'lib', '*'), 'kafka.tools.StorageTool', 'format', '-t', newId(), '-c', properties]
  await run(java.command, [...javaFlags, ...tool])
  await rm(properties)
  await rm(join(logDir, 'meta.properties'))
}
