import type { Installation } from './installation.ts'
import type { Done, Scenario } from './scenario.ts'
import { inHookline, latestMs, podsOf, seconds, until } from './steps.ts'

/**
 * Scales each service with `kubectl scale`, up and down. Then `helm upgrade` restores the numbers
 * of the values.
 */
async function scale(on: Installation): Promise<Done> {
  const { shell, ledger } = on
  const to = async (service: string, replicas: number): Promise<void> => {
    await shell(`${inHookline} scale deployment/hookline-${service} --replicas ${replicas}`)
    await on.rolledOut()
  }
  const begun = performance.now()
  await to('dispatcher', 4)
  const names = (await podsOf(on, 'dispatcher')).map(({ name }) => name)
  const latest = () => new Set(ledger.deliveries.filter(({ at }) => at > begun).map(({ process }) => process))
  const shared = await until('all four dispatchers deliver', () => names.every(name => latest().has(name)))
  await to('dispatcher', 1)
  await to('collector', 3)
  await to('collector', 1)
  await to('audiences', 1)
  await on.upgrade(values => values)
  await on.rolledOut()
  const pods = await on.pods()
  return {
    measured: [`all four dispatchers delivered ${seconds(shared)} after they were available`],
    failures: pods.length === 6 ? [] : [`${pods.length} pods after the upgrade, not 6`],
  }
}

export const scaleScenario: Scenario = {
  name: 'scale',
  shows:
    '`kubectl scale` changes the number of dispatchers to 4 and 1, of collectors to 3 and 1, and of audiences processes to 1; then `helm upgrade` restores 2 of each',
  limits: { restarts: 0, refused: 0, latestMs },
  inject: scale,
}
