import { writeFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { drain } from './drain-node.ts'
import type { Installation } from './installation.ts'
import { processOf } from './list-pods-and-find-process.ts'
import type { Done, Scenario } from './run-scenario.ts'
import { inHookline, latestMs, podsOf, seconds, services, until } from './scenario-steps.ts'

const inKafka = 'kubectl --namespace kafka'
const outageMs = 120_000

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
 * Other processes fill the pod's memory. They have a lower `oom_score_adj`, so the kernel kills
 * Hookline, which ends the container.
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

async function stopKafka(on: Installation): Promise<Done> {
  const { shell, ledger } = on
  // All dispatchers are victims, because none can commit what it had in progress.
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

/** Leaves the registry without a pod for a minute, and replaces a dispatcher in this minute. */
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

export const drainScenario: Scenario = {
  name: 'drain',
  shows:
    '`kubectl drain` of the only node, while disruption budgets keep one pod of each service; then `kubectl uncordon`',
  limits: { restarts: 0, refused: 0, latestMs },
  inject: on => drain(on, services),
}

export const killScenario: Scenario = {
  name: 'kill',
  shows: 'SIGKILL of the process of a dispatcher pod',
  limits: { restarts: 1, refused: 0, pauseMs: 10_000, latestMs },
  inject: kill,
}

export const outOfMemoryScenario: Scenario = {
  name: 'out-of-memory',
  shows: 'the kernel kills a dispatcher because its pod exceeds its memory limit',
  limits: { restarts: 1, refused: 0, pauseMs: 10_000, latestMs },
  inject: exceedMemory,
}

export const registryAwayScenario: Scenario = {
  name: 'registry-away',
  shows: 'the Service of the schema registry has no pod for a minute; a dispatcher is replaced in this minute',
  limits: { restarts: 0, refused: 0, latestMs },
  inject: stopRegistry,
}

export const kafkaAwayScenario: Scenario = {
  name: 'kafka-away',
  shows: 'Kafka is stopped for two minutes',
  limits: { restarts: 0, latestMs: outageMs + 60_000 },
  inject: stopKafka,
}
