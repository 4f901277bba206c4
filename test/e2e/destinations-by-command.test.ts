import { createHmac } from 'node:crypto'
import { join } from 'node:path'
import { expect, it } from '@jest/globals'
import type { SinkRequest } from '../../src/adapters/http/sink-server.ts'
import { Secret } from '../../src/core/secret.ts'
import { closingAfterEach } from '../support/cleanup.ts'
import { configFolder } from '../support/config/config-folder.ts'
import { until } from '../support/kafka/admin.ts'
import { runCommand } from '../support/process/in-process-command.ts'
import { startInstallation, trackEvents } from '../support/process/test-installation.ts'
import { testSecret } from '../support/secret-scan/make-and-find-test-secrets.ts'
import { RecordingReceiver } from '../support/webhook/recording-receiver.ts'

const closing = closingAfterEach()
const [operatorKey, secret] = [testSecret('operator-key-of-ada'), testSecret('first-shared-secret')]

it('a destination is added, paused, changed, rotated and deleted by commands while messages are delivered', async () => {
  const folder = await configFolder({
    'operator.key': `${operatorKey}\n`,
    'encryption.key': `${'0123456789abcdef'.repeat(4)}\n`,
  })
  const accepted = [new Secret(secret)]
  const crm = closing(await RecordingReceiver.started({ secrets: accepted }))
  const installation = closing(
    await startInstallation({
      operator: {
        listen: '127.0.0.1:0',
        keys: [{ name: 'ada', role: 'operate', keyFile: join(folder, 'operator.key') }],
        encryptionKeyFile: join(folder, 'encryption.key'),
      },
      delivery: { schedule: ['10s'] },
    }),
  )
  const service = await installation.run()
  const env = {
    HOOKLINE_OPERATOR_URL: service.operator ?? '',
    HOOKLINE_OPERATOR_KEY_FILE: join(folder, 'operator.key'),
    CRM_SECRET: secret,
  }
  const run = async (line: string, stdin = '') => {
    const { code, out, err } = await runCommand(line.split(' '), { env, stdin })
    return code === 0 ? out : Promise.reject(new Error(err))
  }
  const file = (more = ''): string =>
    `{ id: crm, sources: [web], sharedSecret: "\${CRM_SECRET}", webhooks: [{ url: "${crm.url}" }]${more} }`
  let sent = 0
  const send = async (): Promise<void> => {
    await installation.send(trackEvents(10, `m-${sent}`))
    sent += 10
  }
  const sendUntil = (condition: () => boolean): Promise<unknown> =>
    until(async () => {
      await send()
      return condition() ? true : undefined
    })

  expect(await run('destinations apply -f -', file())).toMatch(/^\+ destination crm\n/)
  expect(await run('destinations test crm')).toMatch(/^webhook 0: delivered \(status 200\) /)
  await sendUntil(() => crm.requests.length > 20)

  expect(await run('destinations apply -f -', file())).toBe('destinations: 1 unchanged\n')
  expect(await run('destinations pause crm')).toBe('destination crm paused\n')
  expect(await run('destinations apply -f - --dry-run', file(', paused: false'))).toContain('paused: true → false')
  expect(await run('destinations list --state paused')).toMatch(/^crm +paused +api +2 +web /m)
  expect(await run('destinations resume crm')).toBe('destination crm resumed\n')
  await expect(run('destinations apply -f -', file().replace('web', 'wbe'))).rejects.toThrow(
    /^stdin:1:\d+: sources\[0\]: no source has this id \(did you mean web\?\)/,
  )

  // The receiver accepts both secrets. After the overlap, only the new secret signs requests.
  const rotated = (await run('destinations rotate-secret crm --overlap 3s')).trim()
  accepted.push(new Secret(rotated))
  const isSignedAnew = ({ body, headers }: SinkRequest): boolean =>
    createHmac('sha1', rotated).update(body).digest('hex') === headers['x-signature']
  await sendUntil(() => crm.requests.filter(isSignedAnew).length > 20)
  expect(crm.requests.filter(({ answer }) => answer !== 200)).toEqual([])

  expect(await run('destinations delete crm')).toBe('destination crm deleted\n')
  expect(await run('destinations list --json')).toBe('{\n  "destinations": []\n}\n')
  expect(await service.stop()).toBe(0)
  const log = JSON.stringify(await installation.log())
  expect([secret, rotated, operatorKey].filter(each => log.includes(each))).toEqual([])
  const actions = (await installation.log()).filter(({ audit }) => audit === true).map(({ action }) => action)
  expect(actions).toEqual(expect.arrayContaining(['put_destination', 'pause_destination', 'rotate_secret']))
})
