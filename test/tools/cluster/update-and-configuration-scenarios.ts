import { createHmac } from 'node:crypto'
import { type Installation, webhooksOf } from './installation.ts'
import type { Done, Scenario } from './run-scenario.ts'
import { configOf, inHookline, latestMs, seconds, services, settingOf, until } from './scenario-steps.ts'

/** Time limit for the update of a mounted ConfigMap or Secret, in ms. It takes about a minute. */
const mountPatienceMs = 180_000
/** Low CPU requests, so that an update can start additional pods on a node with two CPUs. */
const smallRequests = Object.fromEntries(
  [...services, 'operator'].map(name => [name, { resources: { requests: { cpu: '50m' } } }]),
)

async function updateAndRollBack(on: Installation): Promise<Done> {
  await on.upgrade(settingOf('podAnnotations', { edition: '2' }))
  await on.rolledOut()
  await on.rollBack()
  await on.rolledOut()
  return {}
}

async function changeLive(on: Installation): Promise<Done> {
  const { receiver, ledger, shell, upgrade } = on
  const secret = 'a'.repeat(64)
  receiver.inspect('crm', ({ headers, body }) =>
    createHmac('sha1', secret).update(body).digest('hex') === headers['x-signature'] ? 'new' : 'old',
  )
  const before = (await on.pods()).map(({ name }) => name).toSorted()
  const isSeen = (destination: string, mark?: string) => () =>
    ledger.calls.slice(-500).some(call => call.destination === destination && (mark ?? call.mark) === call.mark)
  await upgrade(
    configOf(config => {
      const [first] = config.destinations
      const late = { ...first, id: 'late', webhooks: webhooksOf(receiver, 'late') }
      return { ...config, destinations: [...config.destinations, late] }
    }),
  )
  const added = await until('a delivery to the new destination', isSeen('late'), mountPatienceMs)
  await shell(`${inHookline} patch secret hookline --patch '{"stringData":{"crm":"${secret}"}}'`)
  const signed = await until('a request with the new secret', isSeen('crm', 'new'), mountPatienceMs)
  const after = (await on.pods()).map(({ name }) => name).toSorted()
  return {
    measured: [`new destination after ${seconds(added)}, new secret after ${seconds(signed)}`],
    failures: before.join() === after.join() ? [] : ['pods were replaced'],
  }
}

/**
 * Checks that Helm refuses a mistake in the values, and that the processes refuse a mistake in the
 * ConfigMap.
 */
async function makeMistakes(on: Installation): Promise<Done> {
  const failures: string[] = []
  const refusal = await on.upgrade(configOf(config => ({ ...config, destinatons: [] }))).then(
    () => 'accepted',
    (error: Error) => error.message,
  )
  if (!refusal.includes('destinatons')) failures.push(`Helm does not name the mistake: ${refusal}`)
  const { metadata, data, ...configMap } = JSON.parse(
    await on.shell(`${inHookline} get configmap hookline --output json`),
  )
  const { name, labels, annotations } = metadata
  const good = data['hookline.yaml']
  const put = async (text: string): Promise<void> => {
    const changed = { ...configMap, metadata: { name, labels, annotations }, data: { ...data, 'hookline.yaml': text } }
    // With `--field-manager=helm`, a later change of the field by Helm does not conflict.
    const command = `${inHookline} apply --server-side --force-conflicts --field-manager=helm --filename -`
    await on.shell(`${command} <<'END'\n${JSON.stringify(changed)}\nEND`)
  }
  const pods = await on.pods()
  const logged = async (words: string): Promise<boolean> => {
    const logs = await Promise.all(pods.map(({ name }) => on.shell(`${inHookline} logs ${name} --since=5m`)))
    return logs.every(log => log.includes(words))
  }
  await put(`${good}\ndestinatons: []\n`)
  const refused = await until(
    'a log line that refuses the file',
    () => logged('configuration refused'),
    mountPatienceMs,
  )
  await put(good)
  return { measured: [`refused by Helm, and by the processes after ${seconds(refused)}`], failures }
}

export const smallerRequestsScenario: Scenario = {
  name: 'smaller-requests',
  shows: 'an upgrade lowers the CPU requests of all pods',
  limits: { restarts: 0, refused: 0, latestMs },
  inject: async on => {
    await on.upgrade(settingOf('services', smallRequests))
    await on.rolledOut()
    return {}
  },
}

export const updateAndRollbackScenario: Scenario = {
  name: 'update-and-rollback',
  shows: 'an upgrade replaces all pods, and a rollback replaces them again',
  limits: { restarts: 0, refused: 0, latestMs },
  inject: updateAndRollBack,
}

export const liveChangesScenario: Scenario = {
  name: 'live-changes',
  shows: 'a destination is added in the ConfigMap, and a shared secret is replaced in the Secret',
  limits: { restarts: 0, refused: 0, latestMs },
  inject: changeLive,
}

export const wrongConfigurationScenario: Scenario = {
  name: 'wrong-configuration',
  shows: 'first the values of an upgrade have a mistake, then the ConfigMap has one',
  limits: { restarts: 0, refused: 0, latestMs },
  inject: makeMistakes,
}
