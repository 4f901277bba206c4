import { existsSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from '@jest/globals'
import { Kafka, logLevel } from 'kafkajs'
import { startCluster } from '../../../deploy/tools/local/cluster.ts'
import { clusterMetadata } from '../../../deploy/tools/local/request-cluster-metadata.ts'
import { closingAfterEach } from '../../support/cleanup.ts'
import { createAdminClient, until } from '../../support/kafka/admin.ts'
import { onceReady } from '../../support/kafka/retry-until-broker-ready.ts'

const closing = closingAfterEach()

it('three brokers: a write needs two of them, a restarted one catches up, and proxies are advertised', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'hookline-cluster-test-'))
  const cluster = closing(await startCluster({ dataDir, size: 3, behindProxy: true }))
  const [first, second] = cluster.nodes
  const kafka = new Kafka({ brokers: [...cluster.brokers], logLevel: logLevel.NOTHING, retry: { retries: 20 } })
  const creator = closing(await createAdminClient(cluster.brokers.join(',')))
  const admin = kafka.admin()
  await admin.connect()
  closing({ close: () => admin.disconnect() })
  await creator.createTopics(['replicated'])
  const inSync = async (count: number): Promise<true | undefined> => {
    // The broker that `admin` asks may know the topic later than the one that `creator` asks.
    const { topics } = await onceReady(() => admin.fetchTopicMetadata({ topics: ['replicated'] }))
    return topics[0]?.partitions[0]?.isr.length === count || undefined
  }
  await until(() => inSync(3))

  // On its listener for proxies, the cluster advertises the addresses of the proxies.
  const seen = await clusterMetadata('127.0.0.1', first!.proxied!.target, 60_000)
  expect(new Set(seen.brokers)).toEqual(new Set(cluster.proxiedBrokers))

  await second!.kill()
  expect(second!.isUp).toBe(false)
  await until(() => inSync(2))
  const producer = kafka.producer()
  await producer.connect()
  closing({ close: () => producer.disconnect() })
  const [answer] = await producer.send({ topic: 'replicated', acks: -1, messages: [{ value: 'with two' }] })
  expect(answer).toMatchObject({ errorCode: 0, baseOffset: '0' })

  await second!.start()
  await until(() => inSync(3))
  await cluster.close()
  expect(existsSync(dataDir)).toBe(false)
})
