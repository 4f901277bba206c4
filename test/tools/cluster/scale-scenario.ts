import type { Installation, Values } from './installation.ts'
import type { Done, Scenario } from './run-scenario.ts'
import { inHookline, latestMs, podsOf, seconds, until } from './scenario-steps.ts'

async function scale(on: Installation): Promise<Done> {
  const { shell, ledger } = on
  const to = async (service: string, replicas: number): Promise<void> => {
    await shell(`${inHookline} scale deployment/hookline-${service} --replicas ${replicas}`)
    await on.rolledOut()
  }
  const before = (await on.pods()).length
  await to('dispatcher', 4)
  const begun = performance.now()
  const names = (await podsOf(on, 'dispatcher')).map(({ name }) => name)
  const latest = () => new Set(ledger.deliveries.filter(({ at }) => at > begun).map(({ process }) => process))
  await until('all four dispatchers deliver', () => names.every(name => latest().has(name)))
  await to('dispatcher', 1)
  await to('collector', 3)
  await to('collector', 1)
  await to('audiences', 1)
  const answer = await upgradeAfterScaling(on)
  const took = await until('each service has two pods', async () => (await on.pods()).length === before)
  await on.rolledOut()
  return { measured: [`${answer}; each service had two pods again ${seconds(took)} after the upgrade`] }
}

/**
 * Upgrades the release after kubectl has changed the numbers of pods. To restore the numbers, Helm
 * 4 needs `--force-conflicts`, and Helm 3 no option.
 */
export async function upgradeAfterScaling(
  on: Pick<Installation, 'shell' | 'page'> & { upgrade(change: (values: Values) => Values): Promise<unknown> },
): Promise<string> {
  const refusal = await on
    .upgrade(values => values)
    .then(
      () => undefined,
      (error: Error) => error.message,
    )
  if (refusal === undefined) return '`helm upgrade` restored the numbers'
  if (!refusal.includes('.spec.replicas')) throw new Error(`Helm does not name the conflict: ${refusal}`)
  await on.shell(`${on.page.install.trim()} --force-conflicts`)
  return 'Helm refused the upgrade without `--force-conflicts`'
}

export const scaleScenario: Scenario = {
  name: 'scale',
  shows:
    '`kubectl scale` changes the number of dispatchers to 4 and 1, of collectors to 3 and 1, and of audiences processes to 1; then `helm upgrade` restores two of each',
  limits: { restarts: 0, refused: 0, latestMs },
  inject: scale,
}
