import { held } from './start-infrastructure.ts'

/** Jest's globalTeardown: stops what the setup started. */
export default async function stopInfrastructure(): Promise<void> {
  const stop = held.stopInfrastructure
  delete held.stopInfrastructure
  await stop?.()
}
