import { spawn } from 'node:child_process'
import type { LookupAddress } from 'node:dns'
import { once } from 'node:events'
import { join } from 'node:path'
import type { TlsOptions } from 'node:tls'
import { afterEach } from '@jest/globals'
import { processClock } from '../../../src/adapters/clock/process-clock.ts'
import { createResolver, type Resolver, systemSources } from '../../../src/adapters/webhook/dns-resolver.ts'
import { createGotTransport } from '../../../src/adapters/webhook/got.ts'
import { idleTimeoutMs } from '../../../src/adapters/webhook/http-client-limits.ts'
import type { TransportDeps } from '../../../src/adapters/webhook/transport-for-any-http-client.ts'
import { createUndiciTransport } from '../../../src/adapters/webhook/undici.ts'
import type { Clock } from '../../../src/core/ports.ts'
import type { NetworkSettings, ProxySettings } from '../../../src/core/settings/settings.ts'
import { durationMs } from '../../../src/core/time.ts'
import type { CallResult, WebhookCall, WebhookTransport } from '../../../src/core/webhook-ports.ts'
import type { Leaf } from '../../support/network/certificates.ts'
import { type ConnectProxy, type ConnectProxyOptions, startConnectProxy } from '../../support/network/connect-proxy.ts'
import {
  type AnswerWithRecords,
  type KeyUpdateServer,
  startKeyUpdateServer,
} from '../../support/network/key-update-server.ts'
import { type Script, type ScriptedTcpServer, startScriptedServer } from '../../support/webhook/scripted-tcp-server.ts'

export type CreateTransport = (deps: TransportDeps) => WebhookTransport

/** The transports with which the suite runs. */
export const adapters: readonly (readonly [name: string, create: CreateTransport])[] = [
  ['got', createGotTransport],
  ['undici', createUndiciTransport],
]

export const loopbackOnly: NetworkSettings = { allow: ['127.0.0.0/8', '::1'], ports: undefined, ca: undefined }
/** Adds a proxy to these network settings. */
export const through = (
  network: NetworkSettings,
  { url }: Pick<ConnectProxy, 'url'>,
  options: Partial<ProxySettings> = {},
): NetworkSettings => ({
  ...network,
  proxy: { url, credentials: undefined, noProxy: [], resolve: 'local', ...options },
})

export const headers = { 'User-Agent': 'Hookline/1.0', 'Content-Type': 'application/json' }
export const body = Buffer.from('{"type":"track","event":"Ü"}')

const cleanups: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup()
})

/** Starts a proxy that is closed after the test. */
export async function proxyServer(options?: ConnectProxyOptions): Promise<ConnectProxy> {
  const started = await startConnectProxy(options)
  cleanups.push(() => started.close())
  return started
}

/** Starts an endpoint that is closed after the test. */
export async function receiver(script: Script, security?: TlsOptions): Promise<ScriptedTcpServer> {
  const started = await startScriptedServer(script, security)
  cleanups.push(() => started.close())
  return started
}

/** Starts an endpoint that sends KeyUpdates, and is closed after the test. */
export async function keyUpdateServer(leaf: Leaf, answer: AnswerWithRecords): Promise<KeyUpdateServer> {
  const started = await startKeyUpdateServer(leaf, answer)
  cleanups.push(() => started.close())
  return started
}

/**
 * The real resolver, with addresses from `answer` instead of the hosts file, DNS and the operating
 * system. `asked` records the names.
 */
export function scriptedResolver(
  answer: (name: string) => readonly LookupAddress[] | Promise<readonly LookupAddress[]>,
) {
  const asked: string[] = []
  const sources = {
    ...systemSources(),
    hostsFile: async () => '',
    system: async (name: string) => answer(name),
    query: async (name: string, family: 4 | 6) => {
      if (family === 4) asked.push(name)
      return (await answer(name)).filter(one => one.family === family).map(one => one.address)
    },
  }
  return { asked, resolver: createResolver({ clock: processClock, sources }) }
}

interface Options {
  readonly network?: NetworkSettings | (() => NetworkSettings)
  /** Default: 60 s. On a slow machine, 10 s were too short for some requests. */
  readonly timeoutMs?: number
  readonly resolver?: Resolver
  readonly clock?: Clock
}

/** Creates a transport that is closed after the test, and records all results of each request. */
export function caller(create: CreateTransport, options: Options = {}) {
  const { network = loopbackOnly, timeoutMs = 60_000, resolver, clock = processClock } = options
  const transport = create({
    network: typeof network === 'function' ? network : () => network,
    timeout: durationMs(timeoutMs),
    clock,
    ...(resolver === undefined ? {} : { resolver }),
  })
  cleanups.push(() => transport.close())
  const ends: CallResult[][] = []
  const post = (
    url: string,
    extra: Readonly<Record<string, string>> = {},
    own: Pick<WebhookCall, 'timeoutMs' | 'tlsIdentity' | 'keepBodyBytes'> = {},
  ): Promise<CallResult> =>
    new Promise(resolve => {
      const ended: CallResult[] = []
      ends.push(ended)
      let isPosting = true
      transport.post({ url, headers: { ...headers, ...extra }, body, ...own }, result => {
        ended.push(result)
        if (isPosting) throw new Error('ended within post')
        resolve(result)
      })
      isPosting = false
    })
  return { post, transport, ends }
}

/** Waits until a connection ends. Rejects 1 s before the idle timeout would end it. */
export async function soon(closed: Promise<void>): Promise<void> {
  const late = Promise.withResolvers<void>()
  const cancel = processClock.after(durationMs(idleTimeoutMs - 1_000), () =>
    late.reject(new Error('the connection was not dropped')),
  )
  await Promise.race([closed, late.promise]).finally(cancel)
}

export const answered = (status: number, retryAfter?: string): CallResult => ({ kind: 'answered', status, retryAfter })

/** Sends each request twice in a separate process. A request is `<URL> <timeout in ms>`. */
export async function callInProcess(name: string, calls: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const program = join(import.meta.dirname, 'requesting-process.ts')
  const child = spawn(process.execPath, [program, name, ...calls], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  cleanups.push(async () => void child.kill('SIGKILL'))
  let printed = ''
  child.stdout.on('data', text => {
    printed += text
  })
  let errors = ''
  child.stderr.on('data', text => {
    errors += text
  })
  const [code] = await once(child, 'close')
  return { code, errors, results: JSON.parse(printed || '[]') as readonly (readonly CallResult[])[] }
}
