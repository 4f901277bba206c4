import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { Kafka, logLevel } from 'kafkajs'
import { type Broker, startBroker } from '../../../deploy/tools/local/broker.ts'
import { freePorts } from '../../../deploy/tools/local/free-ports.ts'
import { clusterMetadata } from '../../../deploy/tools/local/request-cluster-metadata.ts'
import { createAdminClient } from '../../support/kafka/admin.ts'

const kafka = (address: string): Kafka => new Kafka({ brokers: [address], logLevel: logLevel.NOTHING })

async function write(address: string, topic: string, value: string): Promise<void> {
  const producer = kafka(address).producer()
  await producer.connect()
  await producer.send({ topic, acks: -1, messages: [{ value }] })
  await producer.disconnect()
}

async function readFirst(address: string, topic: string): Promise<string | undefined> {
  const consumer = kafka(address).consumer({ groupId: 'reader' })
  await consumer.connect()
  await consumer.subscribe({ topic, fromBeginning: true })
  const value = await new Promise<string | undefined>((resolve, reject) => {
    consumer.run({ eachMessage: async ({ message }) => resolve(message.value?.toString()) }).catch(reject)
  })
  await consumer.disconnect()
  return value
}

async function topics(address: string): Promise<string[]> {
  const admin = kafka(address).admin()
  await admin.connect()
  try {
    return await admin.listTopics()
  } finally {
    await admin.disconnect()
  }
}

describe('a local broker', () => {
  let dataDir: string
  let port: number
  let broker: Broker
  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'hookline-broker-test-'))
    port = await freePorts(1)
    broker = await startBroker({ dataDir, port })
  })
  afterAll(async () => {
    await broker.stop()
    await rm(dataDir, { recursive: true })
  })

  it('responds as the only broker of its cluster', async () => {
    expect(await clusterMetadata('127.0.0.1', port, 60_000)).toEqual({
      clusterId: expect.stringMatching(/^[\w-]{22}$/),
      brokers: [broker.address],
    })
  })

  it('supports the newer group protocol, because its directory was formatted with the feature levels', async () => {
    const admin = kafka(broker.address).admin()
    await admin.connect()
    const { resources } = await admin.describeConfigs({
      includeSynonyms: false,
      resources: [
        { type: 4, name: '1', configNames: ['group.coordinator.rebalance.protocols', 'auto.create.topics.enable'] },
      ],
    })
    await admin.disconnect()
    const values = Object.fromEntries(resources[0]!.configEntries.map(each => [each.configName, each.configValue]))
    expect(values['group.coordinator.rebalance.protocols']).toContain('consumer')
    expect(values['auto.create.topics.enable']).toBe('false')
  })

  it.each(['stop', 'kill'] as const)('keeps acknowledged records over %s and a restart on the same data', async end => {
    const topic = `survives-${end}`
    const admin = await createAdminClient(broker.address)
    await admin.createTopics([topic])
    await admin.close()
    await write(broker.address, topic, `written before ${end}`)
    // On a busy machine, a regular stop may take longer than the default time limit.
    await (end === 'kill' ? broker.kill() : broker.stop(60_000))
    expect(await broker.ended).toBe(end === 'kill' ? 'signal SIGKILL' : 'exit code 143')
    broker = await startBroker({ dataDir, port })
    expect(await topics(broker.address)).toContain(topic)
    expect(await readFirst(broker.address, topic)).toBe(`written before ${end}`)
  })

  it('refuses a port that is in use, before it starts anything', async () => {
    const other = join(dataDir, 'never-made')
    await expect(startBroker({ dataDir: other, port })).rejects.toThrow(
      `Kafka cannot listen on 127.0.0.1:${port}: the port is in use; stop the process that uses it`,
    )
    expect(existsSync(other)).toBe(false)
  })

  it('shows the end of its log when it does not start', async () => {
    const start = startBroker({
      dataDir: join(dataDir, 'bad'),
      port: await freePorts(1),
      properties: { 'log.dirs': '' },
    })
    await expect(start).rejects.toThrow(/^Kafka did not start: it ended with exit code 1\n[\s\S]*ConfigException/)
  })
})

describe('a temporary broker', () => {
  it('deletes its data when it stops', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'hookline-broker-test-'))
    const broker = await startBroker({ dataDir, port: await freePorts(1), throwAway: true })
    await broker.stop()
    expect(existsSync(dataDir)).toBe(false)
  })
})
