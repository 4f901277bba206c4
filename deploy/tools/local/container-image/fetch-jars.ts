import { findJava, oldestJava } from '../java.ts'
import { kafkaJars } from '../kafka-jars.ts'

// For build.sh: fetches Kafka's jars if they are not here yet and prints the directory.
const search = await findJava()
if (search.kind === 'missing')
  throw new Error(`Kafka needs Java ${oldestJava} or newer: ${search.why}; install it, or set JAVA_HOME`)
process.stdout.write(`${(await kafkaJars(search.java)).directory}\n`)
