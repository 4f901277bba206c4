import { createHmac } from 'node:crypto'
import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from '@jest/globals'
import type { SinkRequest } from '../../src/adapters/http/sink-server.ts'
import { Secret } from '../../src/core/secret.ts'
import { closingAfterEach } from '../support/cleanup.ts'
import { configFolder } from '../support/config/config-folder.ts'
import { until } from '../support/kafka/admin.ts'
import { startInstallation, trackEvents } from '../support/process/test-installation.ts'
import { testSecret } from '../support/secret-scan/make-and-find-test-secrets.ts'
import { RecordingReceiver } from '../support/webhook/recording-receiver.ts'

const closing = closingAfterEach()
const secrets = { old: testSecret('the-old-secret'), new: testSecret('the-new-secret') }
const signedBy = ({ body, headers }: SinkRequest): string => {
  const signatureOf = (secret: string) => createHmac('sha1', secret).update(body).digest('hex')
  const [name] = Object.entries(secrets).find(([, secret]) => signatureOf(secret) === headers['x-signature']) ?? [
    'nobody',
  ]
  return name
}

it('a secret is replaced in its file under load: no delivery fails, and every later attempt uses the new one', async () => {
  const folder = await configFolder({ 'crm.secret': `${secrets.old}\n` })
  const file = join(folder, 'crm.secret')
  // The endpoints accept both secrets, because requests with the old one may still be in progress.
  const both = Object.values(secrets).map(secret => new Secret(secret))
  const steady = closing(await RecordingReceiver.started({ secrets: both }))
  const failingOnce = closing(await RecordingReceiver.started({ secrets: both, answers: [503, 200] }))
  const at = (id: string, source: string, { url }: RecordingReceiver) => ({
    ...{ id, sources: [source], sharedSecretFile: file },
    webhooks: [{ url }],
  })
  const installation = closing(
    await startInstallation({
      delivery: { schedule: ['10s'] },
      sources: ['web', 'few'].map(id => ({ id, writeKey: `${id}-key` })),
      destinations: [at('steady', 'web', steady), at('failing-once', 'few', failingOnce)],
    }),
  )
  const service = await installation.run()
  let sent = 0
  const send = async (prefix: string): Promise<void> => {
    await installation.send(trackEvents(25, `${prefix}-${sent}`))
    sent += 25
  }

  await send('before')
  // Five failed attempts are too few to open the circuit breaker, which would defer deliveries.
  await installation.send(trackEvents(5, 'few').map(event => ({ ...event, sourceId: 'few' })))
  await Promise.all([steady.untilDelivered(25), failingOnce.until(() => failingOnce.requests.length === 5)])
  // Replaces the file as Kubernetes does with a mounted secret, while requests are in progress.
  await writeFile(`${file}.next`, secrets.new)
  await rename(`${file}.next`, file)
  const reloads = 'hookline_config_reloads_total{result="applied"}'
  await until(async () => {
    await send('during')
    const isTakenOver = (await service.metrics()).get(reloads) === 1
    return isTakenOver && steady.requests.length > 25 ? true : undefined
  })
  for (let count = 0; count < 4; count++) await send('after')
  await Promise.all([steady.untilDelivered(sent), failingOnce.untilDelivered(5)])

  const signers = (prefix: string): ReadonlySet<string> =>
    new Set(steady.requests.filter(({ messageId }) => messageId?.startsWith(prefix)).map(signedBy))
  expect(signers('before')).toEqual(new Set(['old']))
  expect(['during', 'after'].flatMap(prefix => [...signers(prefix)]).filter(name => name === 'nobody')).toEqual([])
  expect(signers('after')).toEqual(new Set(['new']))
  // Deliveries that waited for a retry during the rotation are signed with the new secret.
  expect(failingOnce.requests.map(request => `${request.answer} ${signedBy(request)}`).toSorted()).toEqual([
    ...Array.from({ length: 5 }, () => '200 new'),
    ...Array.from({ length: 5 }, () => '503 old'),
  ])
  const metrics = await service.metrics()
  const settled = (id: string, result: string) =>
    metrics.get(`hookline_deliveries_total{destination="${id}",result="${result}"}`) ?? 0
  expect({ retried: settled('steady', 'retried'), lost: settled('steady', 'dead_lettered') }).toEqual({
    retried: 0,
    lost: 0,
  })
  expect(settled('failing-once', 'retried')).toBe(5)
  expect(steady.duplicates).toBe(0)
  expect(JSON.stringify(await installation.log())).not.toMatch(/the-(old|new)-secret/)
  expect(await service.stop()).toBe(0)
})
