import { expect, it } from '@jest/globals'
import { processClock } from '../../../src/adapters/clock/process-clock.ts'
import { createReader } from '../../../src/adapters/kafka/log/topic-reader.ts'
import { kafkaBehind } from '../../support/kafka/kafka-behind-proxy.ts'
import { startTcpProxy } from '../../support/network/tcp-proxy.ts'
import { silent } from '../../support/telemetry/silent-logger.ts'
import { afterwards, append, brokers, eventually, kafka, newTopic, producer } from './test-clients-and-topics.ts'

async function valuesIn(topic: string): Promise<string[]> {
  const values: string[] = []
  const reader = createReader({ kafka: kafka(), clock: processClock, logger: silent })
  await reader.readToEnd(topic, ({ value }) => void values.push(String(value)))
  return values
}

async function connected() {
  const link = await startTcpProxy(Number(brokers()[0]?.split(':')[1]))
  afterwards(() => link.close())
  const topic = await newTopic()
  const to = producer({ kafka: kafkaBehind(link, brokers()) })
  await append(to, topic, { value: Buffer.from('first') })
  return { link, topic, to }
}

// kafkajs repeats a request that got no response. The repeated record could replace newer records
// of the partition's next owner.
it('kafkajs does not repeat a record whose maySend has become false since the broker stored it', async () => {
  const { link, topic, to } = await connected()
  link.set({ kind: 'answers-lost' })
  let isOurs = true
  const mine = append(to, topic, { value: Buffer.from('mine'), maySend: () => isOurs }).catch((error: unknown) => error)
  const other = append(to, topic, { value: Buffer.from('other') })
  await eventually(
    () => valuesIn(topic),
    ({ length }) => length === 3,
  )
  isOurs = false
  link.set({ kind: 'open' })
  expect(await mine).toEqual(expect.objectContaining({ code: 'HELD_BACK', retriable: true }))
  await other
  // The other record of the request has no `maySend`, so it is repeated.
  expect(await valuesIn(topic)).toEqual(['first', 'mine', 'other', 'other'])
})
