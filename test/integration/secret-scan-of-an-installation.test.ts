import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, it } from '@jest/globals'
import kafkajs from 'kafkajs'
import { startBroker } from '../../deploy/tools/local/broker.ts'
import { freePorts } from '../../deploy/tools/local/free-ports.ts'
import { closingAfterEach } from '../support/cleanup.ts'
import { createAdminClient } from '../support/kafka/admin.ts'
import { startInstallation } from '../support/process/test-installation.ts'
import { findSecrets, testSecret } from '../support/secret-scan/make-and-find-test-secrets.ts'
import { scanBroker } from '../support/secret-scan/scan-broker.ts'

const closing = closingAfterEach()
const secret = testSecret('scan')

it.each(['', 'a', 'ab', 'abc'])('finds a secret in any form after %j', before => {
  const bytes = Buffer.from(`${before}${secret} and more`)
  const formOf = (text: string) => findSecrets(Buffer.from(text)).map(({ marker, form }) => [marker, form])
  expect(formOf(bytes.toString())).toEqual([['kept-secret-', 'plain text']])
  for (const encoding of ['base64', 'base64url'] as const)
    expect(formOf(bytes.toString(encoding))).toEqual([['kept-secret-', 'base64']])
  expect(formOf(bytes.toString('hex'))).toEqual([['kept-secret-', 'hex']])
  expect(formOf(bytes.toString('hex').toUpperCase())).toEqual([['kept-secret-', 'hex']])
  expect(formOf('kept secret')).toEqual([])
})

it('finds secrets in keys, values and headers of all topics, also in compressed batches', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'hookline-secret-scan-'))
  const broker = await startBroker({ dataDir, port: await freePorts(1), throwAway: true })
  closing({ close: () => broker.stop() })
  const kafka = new kafkajs.Kafka({ brokers: [broker.address], logLevel: kafkajs.logLevel.NOTHING })
  const admin = await createAdminClient(broker.address)
  const topics = ['clean', 'clean-and-compressed', 'with-key', 'with-header', 'compressed']
  await admin.createTopics(topics)
  await admin.close()
  const producer = kafka.producer()
  await producer.connect()
  closing({ close: () => producer.disconnect() })
  const compression = kafkajs.CompressionTypes.GZIP
  await producer.send({ topic: 'clean', messages: [{ key: 'k', value: 'v' }] })
  await producer.send({ topic: 'clean-and-compressed', compression, messages: [{ value: 'v' }] })
  expect(await scanBroker(join(dataDir, 'log'), [broker.address])).toEqual([])
  const [unused] = [await freePorts(1)]
  expect(await scanBroker(join(dataDir, 'log'), [`127.0.0.1:${unused}`])).toEqual([
    expect.stringMatching(/^clean-and-compressed: its compressed records could not be read: /),
  ])

  await producer.send({ topic: 'with-key', messages: [{ value: 'first' }] })
  await producer.send({ topic: 'with-key', messages: [{ key: secret, value: 'second' }] })
  await producer.send({ topic: 'with-header', messages: [{ value: 'v', headers: { h: btoa(secret) } }] })
  await producer.send({ topic: 'compressed', compression, messages: [{ value: 'v' }, { value: secret.repeat(9) }] })
  const found = await scanBroker(join(dataDir, 'log'), [broker.address])
  const segment = '00000000000000000000.log'
  expect([...found].sort()).toEqual([
    "compressed-0, offset 1: a secret with 'kept-secret-' in plain text",
    `with-header-0/${segment}, the batch with offset 0: a secret with 'kept-secret-' in base64`,
    `with-key-0/${segment}, the batch with offset 1: a secret with 'kept-secret-' in plain text`,
  ])
})

it('closing an installation fails when its processes have logged a secret', async () => {
  const installation = await startInstallation({})
  await writeFile(join(dirname(installation.configFile), 'service.log'), `{"msg":"${secret}"}\n`)
  await expect(installation.close()).rejects.toThrow(`the log has a secret with 'kept-secret-' in plain text: {"msg":`)
})

it('closing an installation fails when the metrics of a process have a secret', async () => {
  const installation = await startInstallation({})
  const service = await installation.run()
  Object.assign(service, { ask: async () => ({ status: 200, text: `events_total{id="${secret}"} 1` }) })
  await expect(installation.close()).rejects.toThrow(
    `the text of /metrics has a secret with 'kept-secret-' in plain text: events_total{id="`,
  )
})
