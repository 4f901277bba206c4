import { held } from './start-infrastructure.ts'

/** Jest's globalTeardown: ends what the setup started and gives the environment back, for the next run in watch mode finds again. */
export default async function stopInfrastructure(): Promise<void> {
  const infrastructure = held.hooklineInfrastructure
  if (infrastructure === undefined) return
  delete held.hooklineInfrastructure
  await Promise.all(infrastructure.started.map(each => each.stop()))
  for (const [name, value] of Object.entries(infrastructure.env)) {
    if (value === undefined) delete process.env[name]
    else process.env[name] = value
  }
}
