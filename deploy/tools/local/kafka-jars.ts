import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { fetchWithMaven } from './fetch-with-maven.ts'
import { type Java, javaFlags } from './find-java.ts'
import { cacheDirectory, makeOnce } from './make-once-in-cache.ts'
import { newId, serverProperties } from './server-properties.ts'

const run = promisify(execFile)
const pom = join(import.meta.dirname, 'pom.xml')

/** Kafka's jars, and a template for the log directories of brokers. */
export interface KafkaJars {
  readonly directory: string
  readonly classPath: string
  /** The template: a formatted log directory without a cluster id. */
  readonly formatted: string
}

const directory = (): string => {
  const text = readFileSync(pom, 'utf8')
  const version = /<artifactId>kafka_2\.13<\/artifactId>\s*<version>([^<]+)/.exec(text)?.[1]
  return join(cacheDirectory(), `kafka-${version}-${createHash('sha256').update(text).digest('hex').slice(0, 8)}`)
}

/** Whether `kafkaJars` needs neither Maven nor the network. */
export const kafkaJarsAreCached = (): boolean => existsSync(directory())

/** The jars in the user's cache. Maven downloads them the first time (45 MB). */
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
 * Formats a directory that each broker copies, because a copy is much faster than formatting. The
 * directory enables the newer group protocol (`group.version` 1).
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
