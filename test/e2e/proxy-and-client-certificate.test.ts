import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import { describe, expect, it } from '@jest/globals'
import { closingAfterEach } from '../support/cleanup.ts'
import { configFolder } from '../support/config/config-folder.ts'
import { until } from '../support/kafka/admin.ts'
import { createAuthority, type Leaf } from '../support/network/certificates.ts'
import { refusing, startConnectProxy } from '../support/network/connect-proxy.ts'
import { startInstallation, trackEvents } from '../support/process/test-installation.ts'
import { answer, startScriptedServer } from '../support/webhook/scripted-tcp-server.ts'

const closing = closingAfterEach()
const authority = createAuthority()
const clients = createAuthority('authority of clients')
const clientNamed = (name: string): Leaf => clients.issue({ names: [name], usage: 'client' })

/** `names` are the names in the client certificates of the requests. */
async function startBank() {
  const names: string[] = []
  const server = closing(
    await startScriptedServer(
      async peer => {
        while ((await peer.request()) !== undefined) {
          names.push(String((peer.socket as TLSSocket).getPeerCertificate().subject.CN))
          peer.send(answer(200))
        }
      },
      { ...authority.issue(), requestCert: true, rejectUnauthorized: true, ca: [clients.cert] },
    ),
  )
  return { server, names }
}

const calls = (outcome: string): string =>
  `hookline_webhook_calls_total{destination="bank",webhook="0",outcome="${outcome}"}`

async function startProxy(passwords: ReadonlySet<string>) {
  return closing(
    await startConnectProxy({
      intercept: ({ headers }) => {
        const [, token = ''] = String(headers['proxy-authorization']).split(' ')
        const [user, password = ''] = Buffer.from(token, 'base64').toString().split(':')
        return user === 'hookline' && passwords.has(password) ? undefined : refusing(407)
      },
    }),
  )
}

describe('through a proxy and with a client certificate', () => {
  it('a new certificate and a new password apply without a failed delivery; a refusal opens no circuit breaker', async () => {
    const passwords = new Set(['first-password', 'second-password'])
    const [bank, proxy] = [await startBank(), await startProxy(passwords)]
    const first = clientNamed('first')
    const folder = await configFolder({
      ...{ 'ca.pem': authority.cert, 'bank.pem': first.cert, 'bank.key': first.key, password: 'first-password' },
    })
    const file = (name: string): string => join(folder, name)
    const tls = { clientCertFile: file('bank.pem'), clientKeyFile: file('bank.key'), caFile: file('ca.pem') }
    const installation = closing(
      await startInstallation({
        network: {
          allow: ['127.0.0.0/8'],
          proxy: { url: proxy.url, username: 'hookline', passwordFile: file('password') },
        },
        delivery: { schedule: ['10s', '10s', '10s', '10s'], window: '2m' },
        destinations: [{ id: 'bank', sources: ['web'], tls, webhooks: [{ url: bank.server.url() }] }],
      }),
    )
    const service = await installation.run()
    const metric = async (name: string): Promise<number> => (await service.metrics()).get(name) ?? 0
    let sent = 0
    const send = async (count = 20): Promise<void> => {
      await installation.send(trackEvents(count, `batch-${sent}`))
      sent += count
    }
    await send()
    await bank.server.received(sent)
    expect(new Set(bank.names)).toEqual(new Set(['first']))

    const second = clientNamed('second')
    await writeFile(file('bank.pem'), second.cert)
    await writeFile(file('bank.key'), second.key)
    await until(async () => {
      await send()
      await bank.server.received(sent)
      return bank.names.includes('second') || undefined
    })
    await writeFile(file('password'), 'second-password')
    await until(async () => ((await metric('hookline_config_reloads_total{result="applied"}')) >= 2 ? true : undefined))
    passwords.delete('first-password')
    await send()
    await bank.server.received(sent)
    await until(async () => ((await metric(calls('delivered'))) === sent ? true : undefined))
    expect((await service.metrics()).get(calls('proxy'))).toBeUndefined()

    // The proxy refuses all requests until it knows the password again.
    passwords.clear()
    proxy.cut()
    await send(30)
    await until(async () => ((await metric(calls('proxy'))) >= 30 ? true : undefined))
    expect(await metric('hookline_breaker_open{destination="bank"}')).toBe(0)
    passwords.add('second-password')
    await bank.server.received(sent)
    expect(bank.server.requests).toHaveLength(sent)
    expect(proxy.requests.every(({ authority: target }) => target === `127.0.0.1:${bank.server.port}`)).toBe(true)

    const lines = await installation.log()
    expect(lines.filter(line => line['outcome'] === 'proxy')[0]).toMatchObject({
      level: 'error',
      code: 'ERR_PROXY_RESPONSE',
      detail: 'the proxy responded with 407 Refused to CONNECT',
    })
    const log = JSON.stringify(lines)
    for (const secret of [
      'first-password',
      'second-password',
      'BEGIN RSA',
      Buffer.from('hookline:').toString('base64'),
    ])
      expect(log).not.toContain(secret)
    expect(await service.stop()).toBe(0)
  })
})
