import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { freePorts } from '../../../deploy/tools/local/free-ports.ts'
import { type GuardedProcess, startGuarded, tailOf, untilReady } from '../../../deploy/tools/local/guarded-process.ts'
import { createAuthority } from '../../support/network/certificates.ts'
import { type ApiClient, createApiClient } from './api-client.ts'

/** Time limit for the start of the API server, in ms. It needs 3 s on an idle machine. */
const startTimeoutMs = 120_000
export const serviceAddresses = '10.96.0.0/16'
/** The first address of `serviceAddresses`. The API server uses it for the Service `kubernetes`. */
const apiServiceAddress = '10.96.0.1'

/** The user name of the API server in its requests to other API servers, for example to KEDA's. */
const aggregatorName = 'aggregator'

/** The users of the API server, each with its groups. */
const users = {
  admin: ['system:masters'],
  'system:kube-controller-manager': [],
  'system:kube-scheduler': [],
  'system:kube-proxy': [],
  'system:node:node': ['system:nodes'],
} as const satisfies Readonly<Record<string, readonly string[]>>
export type User = keyof typeof users

export interface ControlPlane {
  readonly api: ApiClient
  writeKubeconfig(file: string, user: User): Promise<void>
  stop(): Promise<void>
}

export interface ControlPlaneOptions {
  /** The binary with all programs of Kubernetes. */
  readonly kubernetes: string
  /** An existing directory for data, certificates and logs. */
  readonly directory: string
  /** The IP address on which the API server listens, on a free port. Default: 127.0.0.1. */
  readonly address?: string
  /** Whether the scheduler and the controllers start too. A cluster with nodes needs them. */
  readonly controllers?: boolean
}

/**
 * Starts etcd and a Kubernetes API server, and resolves when the API server is ready.
 * @throws with the end of the failed server's log
 */
export async function startControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  const { kubernetes, directory, address = '127.0.0.1', controllers = false } = options
  const files = await writeFiles(directory, address)
  const etcdPort = await freePorts(3)
  const [peerPort, port] = [etcdPort + 1, etcdPort + 2]
  const started: GuardedProcess[] = []
  const start = (name: string, args: readonly string[]): GuardedProcess => {
    const server = startGuarded({
      command: kubernetes,
      args: [name, ...args],
      output: { file: logOf(directory, name) },
    })
    started.push(server)
    return server
  }
  const stop = async (): Promise<void> => {
    // No data is kept, so the servers are killed in any order.
    await Promise.all(started.map(server => server.kill()))
  }
  const url = `https://${address}:${port}`
  const writeKubeconfig = (file: string, user: User): Promise<void> =>
    writeFile(file, JSON.stringify(kubeconfig(url, files.ca, files.tokens[user])), { mode: 0o600 })
  const api = createApiClient({ url, ca: files.ca, token: files.tokens.admin })
  try {
    start('etcd', etcdArguments(directory, etcdPort, peerPort))
    const server = start('kube-apiserver', apiServerArguments(directory, { address, port, etcdPort }))
    await untilReady(server, () => api.isReady(), { everyMs: 50, patienceMs: startTimeoutMs })
    if (controllers) {
      const [controllerConf, schedulerConf] = ['controllers.conf', 'scheduler.conf'].map(name => join(directory, name))
      await writeKubeconfig(controllerConf!, 'system:kube-controller-manager')
      await writeKubeconfig(schedulerConf!, 'system:kube-scheduler')
      start('kube-controller-manager', controllerArguments(directory, controllerConf!))
      start('kube-scheduler', clientArguments(schedulerConf!))
    }
  } catch (error) {
    await stop()
    const logs = await Promise.all(['etcd', 'kube-apiserver'].map(name => tailOf(logOf(directory, name), 10)))
    throw new Error(`the API server did not start: ${(error as Error).message}\n${logs.join('\n')}`, { cause: error })
  }
  return { api, writeKubeconfig, stop: async () => Promise.all([api.close(), stop()]).then(() => undefined) }
}

const logOf = (directory: string, name: string): string => join(directory, `${name}.log`)

/** Returns the CA certificate and the tokens. */
async function writeFiles(directory: string, address: string) {
  await mkdir(directory, { recursive: true })
  const authority = createAuthority('hookline test cluster')
  const service = ['kubernetes', 'kubernetes.default', 'kubernetes.default.svc', 'kubernetes.default.svc.cluster.local']
  const server = authority.issue({ names: [address, apiServiceAddress, ...service] })
  const accounts = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  })
  const tokens = Object.fromEntries(Object.keys(users).map(user => [user, randomBytes(24).toString('hex')])) as Record<
    User,
    string
  >
  const aggregator = authority.issue({ names: [aggregatorName], usage: 'client' })
  const contents = {
    'ca.crt': authority.cert,
    'aggregator.crt': aggregator.cert,
    'aggregator.key': aggregator.key,
    'server.crt': server.cert,
    'server.key': server.key,
    'accounts.key': accounts.privateKey,
    'tokens.csv': Object.entries(users)
      .map(([user, groups]) => [tokens[user as User], user, user, ...groups].join(','))
      .join('\n'),
  }
  for (const [name, content] of Object.entries(contents))
    await writeFile(join(directory, name), content, { mode: 0o600 })
  return { ca: authority.cert, tokens }
}

function kubeconfig(server: string, ca: string, token: string): object {
  const name = 'test'
  return {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': name,
    contexts: [{ name, context: { cluster: name, user: name } }],
    clusters: [{ name, cluster: { server, 'certificate-authority-data': Buffer.from(ca).toString('base64') } }],
    users: [{ name, user: { token } }],
  }
}

function etcdArguments(directory: string, port: number, peerPort: number): readonly string[] {
  const peers = `http://127.0.0.1:${peerPort}`
  const clients = `http://127.0.0.1:${port}`
  return [
    ...['--data-dir', join(directory, 'etcd'), '--unsafe-no-fsync', '--log-level', 'warn'],
    ...['--listen-client-urls', clients, '--advertise-client-urls', clients],
    ...['--listen-peer-urls', peers, '--initial-advertise-peer-urls', peers, '--initial-cluster', `default=${peers}`],
  ]
}

function apiServerArguments(
  directory: string,
  { address, port, etcdPort }: { readonly address: string; readonly port: number; readonly etcdPort: number },
): readonly string[] {
  const file = (name: string): string => join(directory, name)
  return [
    ...['--etcd-servers', `http://127.0.0.1:${etcdPort}`],
    ...['--bind-address', address, '--advertise-address', address, '--secure-port', String(port)],
    // An address of the loopback interface cannot be an endpoint of the Service `kubernetes`.
    ...(address.startsWith('127.') ? ['--endpoint-reconciler-type', 'none'] : []),
    ...['--service-cluster-ip-range', serviceAddresses, '--allow-privileged=true'],
    ...['--tls-cert-file', file('server.crt'), '--tls-private-key-file', file('server.key')],
    ...['--token-auth-file', file('tokens.csv'), '--authorization-mode', 'Node,RBAC'],
    ...['--enable-admission-plugins', 'NodeRestriction'],
    ...['--service-account-issuer', 'https://kubernetes.default.svc.cluster.local'],
    ...['--service-account-key-file', file('accounts.key'), '--service-account-signing-key-file', file('accounts.key')],
    ...['--kubelet-preferred-address-types', 'InternalIP'],
    ...['--proxy-client-cert-file', file('aggregator.crt'), '--proxy-client-key-file', file('aggregator.key')],
    ...['--requestheader-client-ca-file', file('ca.crt'), '--requestheader-allowed-names', aggregatorName],
    ...['--requestheader-username-headers', 'X-Remote-User', '--requestheader-group-headers', 'X-Remote-Group'],
    ...['--requestheader-extra-headers-prefix', 'X-Remote-Extra-'],
  ]
}

/** Arguments of a program that is a client of the API server and opens no port. */
const clientArguments = (kubeconfigFile: string): readonly string[] => [
  ...['--kubeconfig', kubeconfigFile, '--secure-port', '0', '--leader-elect=false'],
]

const controllerArguments = (directory: string, kubeconfigFile: string): readonly string[] => [
  ...clientArguments(kubeconfigFile),
  ...['--use-service-account-credentials=true', '--root-ca-file', join(directory, 'ca.crt')],
  ...['--service-account-private-key-file', join(directory, 'accounts.key')],
]
