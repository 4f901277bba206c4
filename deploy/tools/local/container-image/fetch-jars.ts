import { findJava, oldestJava } from '../find-java.ts'
import { kafkaJars } from '../kafka-jars.ts'

// For build-kafka-image.sh: fetches Kafka's jars if needed, and prints their directory.
const search = await findJava()
if (search.kind === 'missing')
  throw new Error(
    `Kafka needs Java ${oldestJava} or newer, but ${search.why}: install Java ${oldestJava}, or set JAVA_HOME to its directory`,
  )
process.stdout.write(`${(await kafkaJars(search.java)).directory}\n`)
