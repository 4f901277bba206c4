import { held } from './start-infrastructure.ts'

/**
 * Jest's globalTeardown. @throws when the topics contain secrets of tests, or when the scan for
 * secrets was not complete
 */
export default async function stopInfrastructure(): Promise<void> {
  const { stopInfrastructure: stop, findSecretsOfRun: find } = held
  delete held.stopInfrastructure
  delete held.findSecretsOfRun
  const found = await find?.().finally(() => stop?.())
  if (found !== undefined && found.length > 0)
    throw new Error(
      `Kafka has secrets of tests that are not encrypted, or records that could not be scanned:\n${found.join('\n')}`,
    )
}
