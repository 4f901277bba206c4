import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { parse } from 'yaml'
import { reached } from '../chaos/poll-until-reached.ts'
import { program } from './built-programs.ts'
import type { DeployPage } from './deploy-page-commands.ts'
import type { Installation } from './installation.ts'
import { machineAddress, publicAddress } from './node-addresses-and-files.ts'
import { enableOperator } from './operator-api-changes-scenario.ts'
import type { Done, Scenario } from './run-scenario.ts'
import { addressOf, inHookline, latestMs, podsOf, seconds, settingOf, until } from './scenario-steps.ts'

const opsPort = 9_464
const applyPatienceMs = 30_000
const operatorPort = 8_090
/**
 * Namespaces from which pods try connections. The policies permit what `monitoring` and `ingress`
 * need, and nothing from `other`.
 */
const outside = ['monitoring', 'ingress', 'other'] as const
const webhookSenders = ['dispatcher', 'operator']
const kafka = 'kafka-bootstrap.kafka:9092'
const registry = 'schema-registry.kafka:8081'

/** `policy`: whether the connection opens while the network policies of the chart exist. */
export interface Expectation {
  /** A namespace of `outside`, or a service of Hookline. */
  readonly from: string
  readonly target: string
  readonly policy: 'open' | 'closed'
}

/** The result of each connection, by `<from> <target>`: `open`, or the code of the error. */
export type Found = ReadonlyMap<string, string>

interface PolicyValues {
  readonly collectorFrom: readonly object[]
  readonly [key: string]: unknown
}

/**
 * Returns the values of docs/how-to/deploy-on-kubernetes.md, plus rules for this machine, which
 * runs the load, DNS and endpoints.
 */
export function policyValues({ networkPolicy }: DeployPage, receiverPort: number): PolicyValues {
  const values = parse(networkPolicy).networkPolicy as PolicyValues
  const machine = { ipBlock: { cidr: `${machineAddress}/32` } }
  return {
    ...values,
    collectorFrom: [...values.collectorFrom, machine],
    extraEgress: [{ to: [machine], ports: [{ port: 53, protocol: 'UDP' }, { port: receiverPort }] }],
  }
}

interface Peer {
  readonly service: string
  readonly pod: string
  readonly address: string
}

interface Place {
  readonly peers: readonly Peer[]
  readonly receiverPort: number
  readonly privatePort: number
  readonly publicPort: number
}

/** Without policies, all of these connections open. */
function expectations({ peers, receiverPort, privatePort, publicPort }: Place): readonly Expectation[] {
  const [collector, operator] = ['hookline-collector.hookline:80', `hookline-operator.hookline:${operatorPort}`]
  const rows: (readonly [from: string, target: string, policy: Expectation['policy']])[] = [
    ['ingress', collector, 'open'],
    ['monitoring', collector, 'closed'],
    ['other', collector, 'closed'],
    ['ingress', operator, 'open'],
    ['monitoring', operator, 'closed'],
    ['other', operator, 'closed'],
  ]
  for (const { service, address } of peers)
    rows.push(
      ['monitoring', `${address}:${opsPort}`, 'open'],
      ['ingress', `${address}:${opsPort}`, 'closed'],
      ['other', `${address}:${opsPort}`, 'closed'],
      // These two targets are host names, so the connections also need DNS.
      [service, kafka, 'open'],
      [service, registry, 'open'],
      [service, `${machineAddress}:${receiverPort}`, 'open'],
      [service, `${machineAddress}:${privatePort}`, 'closed'],
      [service, 'kubernetes.default:443', 'closed'],
      [service, `${publicAddress}:${publicPort}`, webhookSenders.includes(service) ? 'open' : 'closed'],
    )
  return rows.map(([from, target, policy]) => ({ from, target, policy }))
}

/** Opens each target. Prints the targets, each with `open`, `timeout` or the code of the error. */
const probe = `Promise.all(process.argv.slice(1).map(target => new Promise(resolve => {
  const [host, port] = target.split(":")
  const socket = require("node:net").connect({ host, port: Number(port), timeout: 3000 })
  const end = result => { socket.destroy(); resolve([target, result]) }
  socket.once("connect", () => end("open")).once("timeout", () => end("timeout")).once("error", error => end(error.code))
}))).then(results => console.log(JSON.stringify(results)))`

async function tryConnections({ shell }: Installation, { peers }: Place, all: readonly Expectation[]): Promise<Found> {
  const found = new Map<string, string>()
  for (const [from, tried] of Map.groupBy(all, each => each.from)) {
    const peer = peers.find(({ service }) => service === from)
    const pod = peer === undefined ? `--namespace ${from} exec deploy/probe` : `--namespace hookline exec ${peer.pod}`
    const targets = tried.map(({ target }) => target).join(' ')
    const output = await shell(`kubectl ${pod} -- /proc/1/exe -e '${probe}' ${targets}`)
    for (const [target, result] of JSON.parse(output) as [string, string][]) found.set(`${from} ${target}`, result)
  }
  return found
}

export function differences(all: readonly Expectation[], found: Found, hasPolicy: boolean): readonly string[] {
  const isClosed = (result: string | undefined): boolean => result === 'timeout' || result === 'ECONNREFUSED'
  return all.flatMap(({ from, target, policy }) => {
    const [expected, result] = [hasPolicy ? policy : 'open', found.get(`${from} ${target}`)]
    if (expected === 'open' ? result === 'open' : isClosed(result)) return []
    return [`${hasPolicy ? 'with' : 'without'} policies, ${from} to ${target}: ${result}, expected ${expected}`]
  })
}

async function createProbes({ shell }: Installation): Promise<void> {
  const image = await shell(
    `${inHookline} get deployment hookline-dispatcher --output jsonpath='{.spec.template.spec.containers[0].image}'`,
  )
  const labels = { app: 'probe' }
  const containers = [{ name: 'probe', image, command: ['/nodejs/bin/node', '-e', 'setInterval(() => {}, 1e9)'] }]
  const pod = { terminationGracePeriodSeconds: 0, automountServiceAccountToken: false, containers }
  const items = outside.flatMap(namespace => [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    {
      ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'probe', namespace } },
      spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: pod } },
    },
  ])
  await shell(`kubectl apply --filename - <<'END'\n${JSON.stringify({ apiVersion: 'v1', kind: 'List', items })}\nEND`)
  for (const name of outside) await shell(`kubectl --namespace ${name} rollout status deployment/probe --timeout=120s`)
}

async function listen(address: string): Promise<{ readonly server: Server; readonly port: number }> {
  const server = createServer(socket => socket.on('error', () => undefined).end())
  await once(server.listen(0, address), 'listening')
  return { server, port: (server.address() as { port: number }).port }
}

/** @throws after three seconds */
async function openConnection(host: string): Promise<Socket> {
  const socket = connect({ host, port: opsPort })
  // Without `resume`, the socket would buffer responses until the next call that reads them.
  socket.on('error', () => undefined).resume()
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(3_000) })
    return socket
  } catch (error) {
    socket.destroy()
    throw error
  }
}

const opens = (host: string): Promise<boolean> =>
  openConnection(host).then(
    socket => Boolean(socket.destroy()),
    () => false,
  )

const request = 'GET /livez HTTP/1.1\r\nHost: hookline\r\n\r\n'

async function responds(socket: Socket): Promise<boolean> {
  socket.write(request)
  return once(socket, 'data', { signal: AbortSignal.timeout(5_000) }).then(
    () => true,
    () => false,
  )
}

/**
 * Enables the policies under load, and tries connections. Then replaces all pods, so that new pods
 * start under the policies.
 */
async function enforcePolicies(on: Installation): Promise<Done> {
  const servers = [await listen(machineAddress), await listen(publicAddress)] as const
  let stopPlugin: (() => Promise<void>) | undefined
  try {
    stopPlugin = await on.node.startNetworkPlugin()
    const ports = { privatePort: servers[0].port, publicPort: servers[1].port }
    return await tryPolicies(on, { ...ports, receiverPort: Number(new URL(on.receiver.url('crm')).port) })
  } finally {
    for (const { server } of servers) server.close()
    await stopPlugin?.()
    for (const name of outside) await on.shell(`kubectl --namespace ${name} delete deployment probe --wait=false`)
  }
}

async function tryPolicies(on: Installation, ports: Omit<Place, 'peers'>): Promise<Done> {
  const failures: string[] = []
  const tryAll = async (hasPolicy: boolean): Promise<number> => {
    const place = { ...ports, peers: await peersOf(on) }
    const all = expectations(place)
    let found: readonly string[] = []
    const isAsExpected = async (): Promise<boolean> => {
      found = differences(all, await tryConnections(on, place, all), hasPolicy)
      return found.length === 0
    }
    // The network plugin does not apply all policies at the same moment.
    await reached(isAsExpected, { everyMs: 250, patienceMs: applyPatienceMs })
    failures.push(...found)
    return all.length
  }
  const tried = await tryAll(false)
  const { took, survived } = await arriveUnderConnection(on, ports.receiverPort)
  await tryAll(true)
  await on.shell(`${inHookline} rollout restart deployment`)
  await on.rolledOut()
  await tryAll(true)
  await on.rollBack()
  const [{ name }] = await podsOf(on, 'dispatcher')
  const address = await addressOf(on, name)
  await until('the ops port is open again after the rollback', () => opens(address))
  return {
    measured: [
      `in force ${seconds(took)} after the upgrade`,
      `${tried} connections tried three times: before the policies, with them, and after the replacement of all pods`,
      `a connection to the ops port that was open before the policies ${survived ? 'stayed open' : 'was cut'}`,
    ],
    failures,
  }
}

/**
 * Returns the ms until the policies refuse new connections, and whether the connection that was
 * already open still works.
 */
async function arriveUnderConnection(on: Installation, receiverPort: number) {
  const [{ name }] = await podsOf(on, 'dispatcher')
  const address = await addressOf(on, name)
  const socket = await openConnection(address)
  // The server closes connections that are idle for some seconds.
  const requests = setInterval(() => socket.write(request), 500)
  try {
    await on.upgrade(settingOf('networkPolicy', policyValues(on.page, receiverPort)))
    const took = await until('a new connection to the ops port is refused', async () => !(await opens(address)))
    return { took, survived: await responds(socket) }
  } finally {
    clearInterval(requests)
    socket.destroy()
  }
}

async function peersOf(on: Installation): Promise<readonly Peer[]> {
  const peers: Peer[] = []
  for (const { name, service } of await on.pods())
    if (!peers.some(peer => peer.service === service))
      peers.push({ service, pod: name, address: await addressOf(on, name) })
  return peers
}

export const networkPolicyScenario: Scenario = {
  name: 'network-policy',
  shows:
    'an upgrade creates the network policies of the chart, which kube-router enforces; then all pods are replaced, and a rollback removes the policies',
  limits: { restarts: 0, refused: 0, latestMs },
  async prepare(on) {
    // The first build takes minutes, so it must not happen under load.
    await program('kube-router')
    if (!(await on.pods()).some(({ service }) => service === 'operator')) await enableOperator(on)
    await createProbes(on)
  },
  inject: enforcePolicies,
}
