import { createHmac } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { nodePressureScenario } from './disk-pressure-scenario.ts'
import { drain } from './drain-node.ts'
import { upgradeScenario } from './earlier-release-upgrade-scenario.ts'
import { ingressScenario } from './ingress-scenario.ts'
import { type Installation, webhooksOf } from './installation.ts'
import { processOf } from './list-pods-and-find-process.ts'
import { networkPolicyScenario } from './network-policy-scenario.ts'
import { operatorScenario } from './operator-api-changes-scenario.ts'
import type { Done, Scenario } from './run-scenario.ts'
import { scaleOnCpuScenario } from './scale-on-cpu-scenario.ts'
import { scaleOnLagScenario } from './scale-on-lag-scenario.ts'
import { scaleScenario } from './scale-scenario.ts'
import { configOf, inHookline, latestMs, podsOf, seconds, services, settingOf, until } from './scenario-steps.ts'

const inKafka = 'kubectl --namespace kafka'
/** Time limit, in ms, for the update of a mounted ConfigMap or Secret. It takes about a minute. */
const mountPatienceMs = 180_000
const outageMs = 120_000
/**
 * A lower CPU request for each pod, so that an update can start additional pods on a node with two
 * CPUs.
 */
const smallRequests = Object.fromEntries(
  [...services, 'operator'].map(name => [name, { resources: { requests: { cpu: '50m' } } }]),
)

async function kill(on: Installation): Promise<Done> {
  const [{ name, restarts }] = await podsOf(on, 'dispatcher')
  const id = await processOf(name)
  const at = performance.now()
  process.kill(id, 'SIGKILL')
  await until('the killed pod is ready again', async () =>
    (await on.pods()).some(pod => pod.name === name && pod.restarts > restarts && pod.isReady),
  )
  return { victims: [name], at }
}

/**
 * Lets other processes in the pod use all of its memory. Each of them uses less than Hookline and
 * has a lower `oom_score_adj`. So the kernel kills Hookline, which ends the container.
 */
async function exceedMemory(on: Installation): Promise<Done> {
  const [{ name }] = await podsOf(on, 'dispatcher')
  await writeFile(`/proc/${await processOf(name)}/oom_score_adj`, '1000')
  const program = 'const held = []; setInterval(() => held.length < 8 && held.push(Buffer.alloc(8 << 20, 1)), 250)'
  const holding = Array.from({ length: 12 }, () =>
    on.shell(`${inHookline} exec ${name} -- /proc/1/exe -e '${program}' > /dev/null 2>&1 || true`),
  )
  const took = await until('the pod is ready again after an OOM kill', async () =>
    (await on.pods()).some(pod => pod.name === name && pod.lastEnd?.reason === 'OOMKilled' && pod.isReady),
  )
  await Promise.all(holding)
  const killed = (await on.pods()).find(pod => pod.name === name)?.lastEnd?.at ?? Date.now()
  // Kubernetes reports the time of the kill in whole seconds. The middle of this second is used.
  const at = performance.now() - (Date.now() - killed) + 500
  return { victims: [name], at, measured: [`ready again ${seconds(took)} after its memory began to fill`] }
}

async function updateAndRollBack(on: Installation): Promise<Done> {
  await on.upgrade(settingOf('podAnnotations', { edition: '2' }))
  await on.rolledOut()
  await on.rollBack()
  await on.rolledOut()
  return {}
}

/** Adds a destination in the ConfigMap, and replaces the shared secret in the Secret. */
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
 * Makes a mistake in the values of the chart, which Helm must refuse, and then one in the ConfigMap
 * itself. Helm does not see the second mistake, so the processes must refuse the file.
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
    // With `--field-manager=helm`, Helm stays the only manager of the fields. After a
    // `kubectl patch`, a later change of the field by Helm would be a conflict.
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

async function stopKafka(on: Installation): Promise<Done> {
  const { shell, ledger } = on
  // While Kafka is away, no dispatcher can commit what it had in progress.
  const victims = (await podsOf(on, 'dispatcher')).map(({ name }) => name)
  await shell(`${inKafka} scale deployment/kafka-bootstrap --replicas=0`)
  await delay(outageMs)
  // Kafka takes some time to stop. The outage begins after the last acknowledged message.
  const at = Math.max(...ledger.acknowledged().map(({ acknowledgedAt = 0 }) => acknowledgedAt))
  await shell(`${inKafka} scale deployment/kafka-bootstrap --replicas=1`)
  await shell(`${inKafka} rollout status deployment/kafka-bootstrap`)
  const back = performance.now()
  const took = await until(
    'a new message is accepted and delivered',
    () => (ledger.deliveries.at(-1)?.sent.at ?? 0) > back,
  )
  await until('all pods are ready', async () => (await on.pods()).every(({ isReady }) => isReady))
  return {
    measured: [`a new message was accepted and delivered ${seconds(took)} after Kafka was ready again`],
    ...{ victims, at },
    failures: took > 60_000 ? ['recovery took more than 60 s'] : [],
  }
}

/** The Service of the registry has no pod for a minute. In this minute a new dispatcher starts. */
async function stopRegistry(on: Installation): Promise<Done> {
  const select = (app: string): Promise<string> =>
    on.shell(`${inKafka} patch service schema-registry --patch '{"spec":{"selector":{"app":"${app}"}}}'`)
  const [{ name }] = await podsOf(on, 'dispatcher')
  await select('none')
  try {
    await on.shell(`${inHookline} delete pod ${name}`)
    await delay(outageMs / 2)
    if ((await podsOf(on, 'dispatcher')).every(({ isReady }) => isReady))
      throw new Error('the new dispatcher is ready, so it could reach the registry')
  } finally {
    await select('schema-registry')
  }
  const took = await until('the new dispatcher is ready', async () =>
    (await podsOf(on, 'dispatcher')).every(({ isReady }) => isReady),
  )
  return { measured: [`a new dispatcher was ready ${seconds(took)} after the registry`] }
}

/** The scenarios, in the order in which they run. */
export const scenarios: readonly Scenario[] = [
  {
    name: 'smaller-requests',
    shows: 'an upgrade lowers the CPU requests of all pods',
    limits: { restarts: 0, refused: 0, latestMs },
    inject: async on => {
      await on.upgrade(settingOf('services', smallRequests))
      await on.rolledOut()
      return {}
    },
  },
  {
    name: 'update-and-rollback',
    shows: 'an upgrade replaces all pods, and a rollback replaces them again',
    limits: { restarts: 0, refused: 0, latestMs },
    inject: updateAndRollBack,
  },
  {
    name: 'drain',
    shows:
      '`kubectl drain` of the only node, while disruption budgets keep one pod of each service; then `kubectl uncordon`',
    limits: { restarts: 0, refused: 0, latestMs },
    inject: on => drain(on, services),
  },
  {
    name: 'kill',
    shows: 'SIGKILL of the process of a dispatcher pod',
    limits: { restarts: 1, refused: 0, pauseMs: 10_000, latestMs },
    inject: kill,
  },
  {
    name: 'out-of-memory',
    shows: 'the kernel kills a dispatcher because its pod exceeds its memory limit',
    limits: { restarts: 1, refused: 0, pauseMs: 10_000, latestMs },
    inject: exceedMemory,
  },
  {
    name: 'live-changes',
    shows: 'a destination is added in the ConfigMap, and a shared secret is replaced in the Secret',
    limits: { restarts: 0, refused: 0, latestMs },
    inject: changeLive,
  },
  {
    name: 'wrong-configuration',
    shows: 'first the values of an upgrade have a mistake, then the ConfigMap has one',
    limits: { restarts: 0, refused: 0, latestMs },
    inject: makeMistakes,
  },
  {
    name: 'registry-away',
    shows: 'the Service of the schema registry has no pod for a minute; a dispatcher is replaced in this minute',
    limits: { restarts: 0, refused: 0, latestMs },
    inject: stopRegistry,
  },
  {
    name: 'kafka-away',
    shows: 'Kafka is stopped for two minutes',
    limits: { restarts: 0, latestMs: outageMs + 60_000 },
    inject: stopKafka,
  },
  scaleScenario,
  scaleOnLagScenario,
  scaleOnCpuScenario,
  operatorScenario,
  networkPolicyScenario,
  upgradeScenario,
  ingressScenario,
  // This scenario is the last one: it may evict the registry, which then has no schemas.
  nodePressureScenario,
]
