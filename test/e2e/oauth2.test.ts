import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from '@jest/globals'
import { closingAfterEach } from '../support/cleanup.ts'
import { configFolder } from '../support/config/config-folder.ts'
import { until } from '../support/kafka/admin.ts'
import { HttpEndpoint } from '../support/network/http-endpoint.ts'
import { startInstallation, trackEvents } from '../support/process/test-installation.ts'
import { testSecret } from '../support/secret-scan/make-and-find-test-secrets.ts'
import { TokenServer } from '../support/webhook/token-server.ts'

const closing = closingAfterEach()
const secrets = { old: testSecret('old-client-secret'), new: testSecret('new-client-secret') }

it('a destination with OAuth2 gets every event with a valid token, also through an outage and a new secret', async () => {
  const folder = await configFolder({ 'crm.secret': `${secrets.old}\n` })
  const file = join(folder, 'crm.secret')
  const tokens = new TokenServer({ id: 'hookline', secret: secrets.old })
  await tokens.start()
  closing(tokens)
  const statuses: number[] = []
  const endpoint = new HttpEndpoint(async (request, response) => {
    request.resume()
    const status = tokens.accepts(request) ? 204 : 401
    statuses.push(status)
    response.writeHead(status).end()
  })
  await endpoint.start()
  closing(endpoint)
  const delivered = (): number => statuses.filter(status => status === 204).length
  const untilDelivered = (count: number) => until(async () => (delivered() === count ? true : undefined))

  const installation = closing(
    await startInstallation({
      delivery: { schedule: ['10s'], attemptsTopic: true },
      destinations: [
        {
          ...{ id: 'crm', sources: ['web'], webhooks: [{ url: `${endpoint.url}/hooks` }] },
          auth: { oauth2: { tokenUrl: tokens.url, clientId: 'hookline', clientSecretFile: file } },
        },
      ],
    }),
  )
  const service = await installation.run()
  await installation.send(trackEvents(25, 'first'))
  await untilDelivered(25)
  expect(tokens.issued).toHaveLength(1)

  // Without tokens, each delivery waits in a retry topic.
  tokens.isDown = true
  tokens.revokeAll()
  await installation.send(trackEvents(5, 'outage'))
  const waiting = 'hookline_deferrals_total{cause="auth"}'
  await until(async () => (((await service.metrics()).get(waiting) ?? 0) >= 5 ? true : undefined))
  tokens.isDown = false
  await untilDelivered(30)

  // Replaces the file of the secret as Kubernetes does with a mounted secret.
  tokens.setSecret(secrets.new)
  await writeFile(`${file}.next`, secrets.new)
  await rename(`${file}.next`, file)
  const reloads = 'hookline_config_reloads_total{result="applied"}'
  await until(async () => ((await service.metrics()).get(reloads) === 1 ? true : undefined))
  tokens.revokeAll()
  await installation.send(trackEvents(25, 'second'))
  await untilDelivered(55)

  const metrics = await service.metrics()
  expect(metrics.get('hookline_deliveries_total{destination="crm",result="dead_lettered"}') ?? 0).toBe(0)
  const attempts = await installation.read(installation.topics.attempts)
  const printed = [JSON.stringify(await installation.log()), ...attempts.map(({ value }) => String(value))].join('\n')
  expect(printed).toContain('token request failed')
  expect(printed).not.toMatch(/client-secret|token-\d/)
  expect(JSON.stringify([...metrics])).not.toMatch(/client-secret|token-\d/)
})
