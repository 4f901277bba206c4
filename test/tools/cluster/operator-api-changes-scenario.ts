import { setTimeout as delay } from 'node:timers/promises'
import { operatorKey } from '../../support/operator/scripted-deletion-and-audience-api.ts'
import { type ChangeLoad, type ChangesSeen, createChangeLoad } from '../chaos/change-load.ts'
import { bothMarks, changedIds, changedSource, versionsIn } from '../chaos/changed-destinations.ts'
import { judgeChanges } from '../chaos/changes-verdict.ts'
import { createDestinations, lastDelivered, shownBy } from '../chaos/create-and-observe-changed-destinations.ts'
import type { Load } from '../chaos/event-load.ts'
import { Ledger } from '../chaos/message-ledger.ts'
import { type Receiver, startReceiver } from '../chaos/receiver.ts'
import { createChance } from '../chaos/seeded-random.ts'
import { drain } from './drain-node.ts'
import type { Installation } from './installation.ts'
import { processOf } from './list-pods-and-find-process.ts'
import { startMessageLoad } from './message-load.ts'
import { machineAddress } from './node-addresses-and-files.ts'
import { readTopic } from './read-topic.ts'
import type { Done, Scenario } from './run-scenario.ts'
import { configOf, inHookline, latestMs, podsOf, until } from './scenario-steps.ts'
import { judge } from './verdict.ts'

const count = 10
/** Messages per second. Each goes to all changed destinations. */
const perSecond = 6
const changePatienceMs = 60_000
/** Time in ms from the creation of a destination until every process certainly uses it. */
const inForceMs = 2_000
const secrets = {
  'operator-key': operatorKey,
  'encryption-key': '0123456789abcdef'.repeat(4),
  'changed-write-key': 'fedcba9876543210'.repeat(2),
}
const limits = { restarts: 2, refused: 0, latestMs }

/** `change` changes further configuration. */
export async function addOperator(on: Installation, change: Parameters<typeof configOf>[0]): Promise<void> {
  await on.shell(`${inHookline} patch secret hookline --patch '${JSON.stringify({ stringData: secrets })}'`)
  const operator = {
    keys: [{ name: 'ada', role: 'operate', keyFile: '../secrets/operator-key' }],
    encryptionKeyFile: '../secrets/encryption-key',
  }
  await on.upgrade(configOf(config => change({ ...config, operator })))
  await on.rolledOut()
}

/** Adds the operator service, and opens the console as in docs/how-to/deploy-on-kubernetes.md. */
export async function enableOperator(on: Installation): Promise<void> {
  const source = { id: changedSource, writeKeyFile: '../secrets/changed-write-key' }
  await addOperator(on, config => ({ ...config, sources: [...(config['sources'] as readonly object[]), source] }))
  // `timeout` ends the command with 124. Another code means that the command itself failed.
  const forwarded = on.shell(`timeout 15 ${on.page.portForward.trim()} || [ $? = 124 ]`)
  const isOpen = () =>
    fetch('http://127.0.0.1:8090/console/').then(
      ({ ok }) => ok,
      () => false,
    )
  await Promise.all([forwarded, until('the console responds at the forwarded port', isOpen, 15_000)])
}

interface Changing {
  readonly ids: readonly string[]
  readonly ledger: Ledger
  readonly receiver: Receiver
  readonly load: ChangeLoad
  /** Number of changes that have begun. */
  wanted: number
}

/**
 * Changes destinations while pods of the operator API are replaced, drained and killed. Compares
 * the responses with the config topic, pods and requests.
 */
async function changeThroughFaults(on: Installation): Promise<Done> {
  const address = await on.shell(`${inHookline} get service hookline-operator --output jsonpath='{.spec.clusterIP}'`)
  const service = { name: 'service', service: { operator: `http://${address}:8090` } }
  const operators = { members: () => [service] }
  const [ids, ledger] = [changedIds(count), new Ledger()]
  const receiver = await startReceiver(ledger, machineAddress)
  for (const id of ids) receiver.inspect(id, bothMarks)
  const chance = createChance(1, 'operator')
  const options = { operators, receiver, destinations: ids, chance, patienceMs: changePatienceMs }
  const changing = { ids, ledger, receiver, load: createChangeLoad(options), wanted: 0 }
  try {
    await createDestinations(operators, changing, 1)
    await delay(inForceMs)
    const writeKey = async (): Promise<string> => secrets['changed-write-key']
    const messages = await startMessageLoad({ ...on, ledger, writeKey }, perSecond)
    try {
      const { measured, failures } = await injectFaults(on, changing)
      const verdict = await judged(on, changing, messages)
      return { measured: [...measured, ...verdict.measured], failures: [...failures, ...verdict.failures] }
    } finally {
      await messages.stop()
    }
  } finally {
    await receiver.close()
  }
}

async function injectFaults(on: Installation, changing: Changing) {
  const phases = [
    ['rolling update', () => replacePods(on)],
    ['drain', () => drain(on, ['operator'])],
    ['SIGKILL of each pod', () => killPods(on, changing)],
  ] as const
  const [measured, failures]: [string[], string[]] = [[], []]
  let before = 0
  for (const [name, fault] of phases) {
    const done = await whileChanging(changing, fault)
    const { tries } = await changing.load.ended()
    measured.push(`${name}: ${outcomesOf(tries.slice(before))}`)
    before = tries.length
    failures.push(...(done.failures ?? []).map(failure => `${name}: ${failure}`))
  }
  return { measured, failures }
}

async function whileChanging(changing: Changing, fault: () => Promise<Done>): Promise<Done> {
  let isOver = false
  const changes = (async () => {
    while (!isOver) {
      begin(changing, 2)
      await delay(500)
    }
  })()
  try {
    return await fault()
  } finally {
    isOver = true
    await changes
  }
}

function begin(changing: Changing, number: number): void {
  changing.wanted += number
  changing.load.begin(number)
}

async function replacePods(on: Installation): Promise<Done> {
  await on.shell(`${inHookline} rollout restart deployment/hookline-operator`)
  await on.rolledOut()
  return {}
}

async function killPods(on: Installation, changing: Changing): Promise<Done> {
  for (const { name, restarts } of await podsOf(on, 'operator')) {
    const id = await processOf(name)
    begin(changing, 2 * count)
    await delay(100)
    process.kill(id, 'SIGKILL')
    await until('the killed pod is ready again', async () =>
      (await on.pods()).some(pod => pod.name === name && pod.restarts > restarts && pod.isReady),
    )
  }
  return {}
}

const outcomesOf = (tries: ChangesSeen['tries']): string =>
  (['acknowledged', 'refused', 'unknown'] as const)
    .map(outcome => `${tries.filter(each => each.outcome === outcome).length} tries ${outcomeTexts[outcome]}`)
    .join(', ')

const outcomeTexts = { acknowledged: 'got a 200', refused: 'a 412', unknown: 'a 503 or no response' }

async function judged(on: Installation, { ids, ledger, load, wanted }: Changing, messages: Load) {
  const seen = await load.ended()
  const members = await operatorPods(on)
  const lists = await shownBy({ members: () => members }, 1)
  const lastFrom = await lastDelivered({ ids, ledger, partitions: on.partitions }, 1)
  await messages.stop()
  await ledger.settled(ids, changePatienceMs)
  const isLast = ({ sent }: { readonly sent: { readonly at: number } }): boolean => sent.at >= lastFrom
  const changes = judgeChanges({
    ...{ destinations: ids, wanted, seen, lists, partitions: on.partitions },
    records: versionsIn(await readTopic(on, 'hookline.config')),
    calls: ledger.calls,
    last: ledger.deliveries.filter(isLast).map(each => ({ ...each, partition: each.sent.partition })),
    dispatchers: { names: new Set(on.ledger.deliveries.filter(isLast).map(each => each.process)), expected: 2 },
  })
  const { sent, failures } = judge({
    ...{ limits, destinations: ids, sent: [...ledger.sent.values()] },
    posted: ledger.posted,
    ...{ deliveries: ledger.deliveries, at: 0, victims: [], restarts: 0 },
  })
  return {
    measured: [...changes.measured, `${sent} deliveries to the changed destinations`],
    failures: [...changes.failures, ...failures.map(failure => `changed destinations: ${failure}`)],
  }
}

async function operatorPods(on: Installation) {
  const path = '{range .items[*]}{.metadata.name} {.status.podIP}{"\\n"}{end}'
  const selector = 'app.kubernetes.io/component=operator'
  const lines = await on.shell(`${inHookline} get pods --selector ${selector} --output jsonpath='${path}'`)
  const addresses = new Map(lines.split('\n').map(line => line.split(' ') as [string, string]))
  return (await podsOf(on, 'operator')).map(({ name }) => ({
    name,
    service: { operator: `http://${addresses.get(name)}:8090` },
  }))
}

export const operatorScenario: Scenario = {
  name: 'operator',
  shows: `${count} destinations are changed through the Service of the operator API while the two pods of the operator service are replaced, drained and killed with SIGKILL. The console responds at the forwarded port`,
  limits,
  prepare: enableOperator,
  inject: changeThroughFaults,
}
