import { readFile, writeFile } from 'node:fs/promises'
import { request } from 'node:https'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createAuthority } from '../../support/network/certificates.ts'
import { program } from './built-programs.ts'
import { useConsole } from './console-through-ingress.ts'
import { readConsoleIngress } from './deploy-page-commands.ts'
import { ingressNamespace, traefikManifests } from './ingress-controller.ts'
import type { Installation } from './installation.ts'
import { sendLargeBodies } from './large-bodies.ts'
import { basic } from './message-load.ts'
import { clientAddress, machineAddress } from './node-addresses-and-files.ts'
import { addOperator } from './operator-api-changes-scenario.ts'
import {
  createIngressClient,
  type IngressAnswer,
  type IngressClient,
  ingressAgent,
} from './operator-client-through-ingress.ts'
import type { Done, Scenario } from './run-scenario.ts'
import { inHookline, latestMs, until } from './scenario-steps.ts'
import { repository } from './shell.ts'

/** The hosts in the Ingresses of deploy-on-kubernetes.md and use-the-console.md (docs/how-to). */
const collectorHost = 'events.example.com'
const operatorHost = 'hookline.internal.example'
const classes = ['public', 'internal']
const inIngress = `kubectl --namespace ${ingressNamespace}`
const destination = 'shop'
const path = `/v1/destinations/${destination}`
const changeEveryMs = 200
/** Requests in progress that a collector permits for one client address. */
const perAddress = 100

type Result = Required<Pick<Done, 'measured' | 'failures'>>

async function addIngresses(on: Installation): Promise<void> {
  const authority = createAuthority()
  const { cert, key } = authority.issue({ names: [collectorHost, operatorHost] })
  const write = (name: string, text: string): Promise<void> => writeFile(join(on.directory, name), text)
  await Promise.all([write('ca.crt', authority.cert), write('tls.crt', cert), write('tls.key', key)])
  const collector = { clientAddressHeader: 'X-Forwarded-For', connectionsPerAddress: perAddress }
  await addOperator(on, config => ({ ...config, collector }))
  const items = traefikManifests(await program('traefik'), classes)
  const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items })
  await on.shell(`kubectl apply --filename - <<'END'\n${list}\nEND`)
  const { ingress, createIngress } = on.page
  const console = readConsoleIngress(await readFile(join(repository, 'docs/how-to/use-the-console.md'), 'utf8'))
  await write('ingress.yaml', ingress)
  await on.shell(createIngress)
  await write('ingress.yaml', console)
  await on.shell(createIngress.replace('hookline-collector-tls', 'hookline-console-tls'))
  const clients = await Promise.all(
    [collectorHost, operatorHost].map(host => createIngressClient(on, host, machineAddress)),
  )
  const respond = async (): Promise<boolean> => {
    const answers = await Promise.all(clients.map(client => client.ask('GET', '/openapi.json')))
    return answers.every(({ status }) => status === 200)
  }
  await until('both hosts respond through the Ingress', respond).catch(async error => {
    const log = await on.shell(`${inIngress} get pods 2>&1; ${inIngress} logs deployment/traefik --tail=20 2>&1`)
    throw new Error(`${error.message}\n${log}`, { cause: error })
  })
}

async function replaceBehindIngress(on: Installation): Promise<Done> {
  const operator = await createIngressClient(on, operatorHost, machineAddress)
  const created = await operator.ask('PUT', path, { body: { sources: ['web'], ...webhooks(on, 0) } })
  if (created.status !== 201) throw new Error(`PUT ${path}: ${created.status} ${created.text}`)
  const agent = await ingressAgent(on, machineAddress)
  const target = { ...on, collectorUrl: async () => `https://${collectorHost}`, agent }
  const [, sent] = await Promise.all([replace(on, 'collector'), sendLargeBodies(target, 6)])
  const answers = await changeWhile(on, operator, () => replace(on, 'operator'))
  const guesses = await guessKeys(on, operator)
  const held = await holdRequests(on)
  const console = await useConsole(`https://${operatorHost}`, destination)
  const log = `${inIngress} logs deployment/traefik --tail=-1`
  // Traefik logs a 502 for each unfinished request of `holdRequests` from `clientAddress`, so only
  // requests from `machineAddress` count.
  const gateway = (await on.shell(`${log} | grep -E '^${machineAddress} .*HTTP/[0-9.]+" 50[24] ' || true`))
    .split('\n')
    .filter(line => line !== '')
  return {
    measured: [
      `${sent} bodies of 4 MiB while the collectors were replaced`,
      `operator API while its pods were replaced: ${answers.text}`,
      ...[...guesses.measured, ...held.measured, ...console.measured],
      `${gateway.length} responses of the controller with status 502 or 504`,
    ],
    failures: [
      ...[...answers.failures, ...guesses.failures, ...held.failures, ...console.failures],
      ...gateway.slice(0, 5).map(line => `the controller responded: ${line}`),
    ],
  }
}

async function replace(on: Installation, service: string): Promise<void> {
  await on.shell(`${inHookline} rollout restart deployment/hookline-${service}`)
  await on.rolledOut()
}

const webhooks = ({ receiver }: Installation, mark: number) => ({
  webhooks: [{ id: 'main', url: receiver.url(destination), headers: { 'x-mark': String(mark) } }],
})

/**
 * Changes a destination repeatedly during `work`. Each change has the ETag of the previous read. A
 * last change with an old ETag must get a 412.
 */
async function changeWhile(on: Installation, { ask }: IngressClient, work: () => Promise<void>) {
  const counts = new Map<string, number>()
  let isOver = false
  const changes = (async () => {
    for (let mark = 1; ; mark += 1) {
      const read = await ask('GET', path)
      const etag = String(read.headers['etag'])
      const changed = await ask('PATCH', path, { body: webhooks(on, mark), headers: { 'if-match': etag } })
      for (const name of [`GET ${read.status}`, `PATCH ${changed.status}`])
        counts.set(name, (counts.get(name) ?? 0) + 1)
      if (isOver) return ask('PATCH', path, { body: webhooks(on, 0), headers: { 'if-match': etag } })
      await delay(changeEveryMs)
    }
  })()
  await work().finally(() => {
    isOver = true
  })
  const last = await changes
  // A GET may reach a pod that has not read the last change yet. The next PATCH then gets a 412.
  const expected = ['GET 200', 'PATCH 200', 'PATCH 412']
  const listed = [...counts].map(([name, count]) => `${count} × ${name}`)
  return {
    text: listed.join(', '),
    failures: [
      ...listed.filter(text => !expected.some(each => text.endsWith(each))),
      ...(last.status === 412 ? [] : [`an ETag that is out of date got ${last.status}`]),
    ].map(failure => `operator API: ${failure}`),
  }
}

/**
 * Sends wrong keys with false X-Forwarded-For headers. The service must reject `clientAddress`, but
 * not the client `operator`.
 */
async function guessKeys(on: Installation, operator: IngressClient): Promise<Result> {
  const { ask } = await createIngressClient(on, operatorHost, clientAddress)
  const answers: IngressAnswer[] = []
  const isRejected = (): boolean => answers.length >= 4 && answers.slice(-4).every(({ status }) => status === 429)
  while (!isRejected() && answers.length < 60)
    answers.push(await ask('GET', path, { headers: { ...forged(answers.length), authorization: 'Bearer wrong' } }))
  const own = await Promise.all([1, 2, 3, 4].map(() => operator.ask('GET', path)))
  // An Ingress controller might change or reject a path with an encoded slash.
  const odd = await operator.ask('GET', '/v1/messages/a%2Fb%20c')
  const count = answers.filter(({ status }) => status === 401).length
  return {
    measured: [`429 after ${count} wrong operator keys with false addresses`],
    failures: [
      ...(isRejected() ? [] : [`${count} wrong operator keys with false addresses got 401`]),
      ...own.filter(({ status }) => status !== 200).map(({ status }) => `another address got ${status}`),
      ...('x-request-id' in odd.headers ? [] : [`a path with %2F got ${odd.status} ${odd.text}`]),
    ],
  }
}

const forged = (number: number) => ({ 'x-forwarded-for': `198.51.100.${number}` })

/**
 * Begins requests, but does not finish them. Traefik sends a client no refusal before the end of
 * the request body, so the refusals are counted in Traefik's log.
 */
async function holdRequests(on: Installation): Promise<Result> {
  const agent = await ingressAgent(on, clientAddress)
  const authorization = basic(await on.writeKey())
  const begun = 2.5 * perAddress
  for (let number = 0; number < begun; number += 1) {
    const headers = { ...forged(number), authorization, 'content-length': 1_000 }
    const asking = request(`https://${collectorHost}/v1/track`, { method: 'POST', agent, headers })
    asking.on('error', () => {})
    asking.write('{')
  }
  const statuses = `${inIngress} logs deployment/traefik --since=1m | sed -n 's/^${clientAddress} .*track HTTP[^"]*" \\([0-9]*\\) .*/\\1/p'`
  let refused = 0
  try {
    await until('requests with false addresses are refused', async () => {
      refused = (await on.shell(statuses)).split('\n').filter(status => status === '503').length
      return refused >= begun - 2 * perAddress
    })
    return { measured: [`503 for ${refused} of ${begun} unfinished requests with false addresses`], failures: [] }
  } catch (error) {
    return { measured: [], failures: [`${(error as Error).message}; refused: ${refused} of ${begun}`] }
  } finally {
    agent.destroy()
  }
}

export const ingressScenario: Scenario = {
  name: 'ingress',
  shows:
    'messages, the operator API and the console go through an Ingress controller (Traefik) with TLS. The pods of the collector and of the operator service are replaced. A client sends false addresses in X-Forwarded-For',
  limits: { restarts: 0, refused: 0, latestMs },
  prepare: addIngresses,
  entry: async on => ({
    collectorUrl: async () => `https://${collectorHost}`,
    agent: await ingressAgent(on, machineAddress),
  }),
  inject: replaceBehindIngress,
}
