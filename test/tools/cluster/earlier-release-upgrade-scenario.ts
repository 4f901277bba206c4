import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { importHookline } from './import-images.ts'
import type { Installation, Values } from './installation.ts'
import type { Done, Scenario } from './run-scenario.ts'
import { latestMs, until } from './scenario-steps.ts'
import { repository } from './shell.ts'

/** The last commit of version 0.1.0. It has no published image, so the scenario builds one. */
const commit = 'd8def41f'

/** Replaces Hookline by the earlier release, which has its own topic prefix. */
async function installEarlier(on: Installation): Promise<void> {
  const { shell, node, directory } = on
  const checkout = join(directory, 'earlier')
  await mkdir(checkout)
  await shell(`git -C '${repository}' archive ${commit} | tar --extract --directory earlier`)
  await importHookline(node, commit, checkout)
  await shell('helm --namespace hookline uninstall hookline --wait')
  await until(
    'all pods are deleted',
    async () => (await shell('kubectl --namespace hookline get pods --output name')) === '',
  )
  await on.upgrade(earlierValues, 'earlier/deploy/helm/hookline')
  await on.rolledOut()
}

export function earlierValues(values: Values): Values {
  const { operator, ...config } = values.config
  const { operator: _, ...services } = (values['services'] ?? {}) as Record<string, object>
  const topics = { ...(config['topics'] as object), prefix: 'earlier' }
  const image = { ...(values['image'] as object), tag: commit }
  return { ...values, image, services, config: { ...config, topics } }
}

async function upgrade(on: Installation): Promise<Done> {
  const toCurrent = (values: Values): Values => {
    const { tag, ...image } = values['image'] as Record<string, string>
    return { ...values, image }
  }
  await on.upgrade(toCurrent)
  await on.rolledOut()
  await on.rollBack()
  await on.rolledOut()
  await on.upgrade(toCurrent)
  await on.rolledOut()
  return {}
}

export const upgradeScenario: Scenario = {
  name: 'upgrade',
  shows: `upgrade from the chart and the image of 0.1.0 (commit ${commit}), rollback to them, and upgrade again`,
  limits: { restarts: 0, refused: 0, latestMs },
  prepare: installEarlier,
  inject: upgrade,
}
