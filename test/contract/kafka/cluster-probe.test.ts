import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { AclOperationTypes, AclPermissionTypes, AclResourceTypes, ResourcePatternTypes } from 'kafkajs'
import { type Broker, startBroker } from '../../../deploy/tools/local/broker.ts'
import { freePorts } from '../../../deploy/tools/local/free-ports.ts'
import { processClock } from '../../../src/adapters/clock/process-clock.ts'
import { type ClusterProbe, createClusterProbe } from '../../../src/adapters/kafka/log/doctor-cluster-probe.ts'
import { createReader } from '../../../src/adapters/kafka/log/topic-reader.ts'
import type { Access } from '../../../src/core/doctor/kafka-permissions.ts'
import { silent } from '../../support/telemetry/silent-logger.ts'
import { startScriptedServer } from '../../support/webhook/scripted-tcp-server.ts'
import { afterwards, kafka, newTopic, plainAdmin, uniqueName } from './test-clients-and-topics.ts'

/** The broker checks ACLs, but permits access to topics and groups without ACLs. */
const properties = {
  'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
  'allow.everyone.if.no.acl.found': 'true',
}
let broker: Broker
beforeAll(async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'hookline-contract-'))
  broker = await startBroker({ dataDir, port: await freePorts(1), properties, throwAway: true })
})
afterAll(() => broker?.stop())

const examiner = (...brokers: string[]): ClusterProbe =>
  createClusterProbe({ brokers, clientId: 'contract', tls: undefined, sasl: undefined }, { logger: silent })
const newTopicHere = (config: Record<string, string> = {}): Promise<string> =>
  newTopic({ on: [broker.address], config })

/**
 * Denies only this access. The first rule permits all operations: without it, Kafka would deny all
 * access to the resource.
 */
async function forbid(access: Access): Promise<void> {
  const admin = await plainAdmin([broker.address])
  const operations = { read: AclOperationTypes.READ, write: AclOperationTypes.WRITE, join: AclOperationTypes.READ }
  const rule = (operation: number, permissionType: number) => ({
    resourceType: access.to === 'join' ? AclResourceTypes.GROUP : AclResourceTypes.TOPIC,
    resourceName: access.name,
    resourcePatternType: ResourcePatternTypes.LITERAL,
    ...{ principal: 'User:ANONYMOUS', host: '*', operation, permissionType },
  })
  await admin.createAcls({
    acl: [rule(AclOperationTypes.ALL, AclPermissionTypes.ALLOW), rule(operations[access.to], AclPermissionTypes.DENY)],
  })
}

describe('a broker', () => {
  it('connects, supports all needed requests, and lists the advertised listeners', async () => {
    expect(await examiner(broker.address).connect(broker.address)).toEqual({ unsupported: [] })
    expect(await examiner(broker.address).advertisedListeners(broker.address)).toEqual([broker.address])
  })

  it('fails after one attempt when no broker listens', async () => {
    await expect(examiner('127.0.0.1:1').connect('127.0.0.1:1')).rejects.toMatchObject({
      name: 'KafkaError',
      message: expect.stringContaining('ECONNREFUSED'),
    })
  })

  it('fails when another server listens', async () => {
    const other = await startScriptedServer(peer => {
      peer.send('HTTP/1.1 400 Bad Request\r\n\r\n')
      peer.end()
    })
    afterwards(() => other.close())
    await expect(examiner().connect(`127.0.0.1:${other.port}`)).rejects.toMatchObject({ name: 'KafkaError' })
  })
})

describe('permissions', () => {
  it.each(['read', 'write', 'join'] as const)('to %s are checked without reads or writes', async to => {
    const [allowed, forbidden] = [await newTopicHere(), await newTopicHere()]
    await forbid({ to, name: forbidden })
    const needed = [allowed, forbidden, uniqueName()].flatMap(name =>
      (['read', 'write', 'join'] as const).map(each => ({ to: each, name })),
    )
    // A new ACL takes effect with a delay.
    let refused: ReadonlySet<Access> = new Set()
    while (refused.size === 0) refused = await examiner(broker.address).deniedAccess(broker.address, needed)
    expect([...refused]).toEqual([{ to, name: forbidden }])
    const reader = createReader({ kafka: kafka([broker.address]), clock: processClock, logger: silent })
    expect(await reader.readToEnd(allowed, () => {})).toBe(0)
  })
})

describe('the clock of a broker', () => {
  it('is read from the append time of a record', async () => {
    const topic = await newTopicHere({ 'message.timestamp.type': 'LogAppendTime' })
    const { before, after, appended } = await examiner(broker.address).readClock(topic)
    // The broker runs on this machine, so it uses the same clock as the test.
    expect(appended).toBeGreaterThanOrEqual(before)
    expect(appended).toBeLessThanOrEqual(after)
  })

  it('is unknown for a topic with CreateTime', async () => {
    const topic = await newTopicHere({ 'message.timestamp.type': 'CreateTime' })
    expect((await examiner(broker.address).readClock(topic)).appended).toBeUndefined()
  })

  it('cannot be read when the topic does not exist', async () => {
    await expect(examiner(broker.address).readClock(uniqueName())).rejects.toMatchObject({ name: 'KafkaError' })
  })
})
