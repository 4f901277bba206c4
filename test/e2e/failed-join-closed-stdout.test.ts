import { expect, it } from '@jest/globals'
import kafkajs from 'kafkajs'
import { freePorts } from '../../deploy/tools/local/free-ports.ts'
import { closingAfterEach } from '../support/cleanup.ts'
import { until } from '../support/kafka/admin.ts'
import { spawnRun } from '../support/process/starting-process.ts'
import { startInstallation } from '../support/process/test-installation.ts'

const closing = closingAfterEach()

/**
 * Joins the consumer group when it has no member, with a protocol that prevents processes of
 * Hookline from joining.
 */
async function occupy(groupId: string, topic: string): Promise<{ close(): Promise<void> }> {
  const brokers = (process.env['KAFKA_BROKERS'] ?? '').split(',')
  const kafka = new kafkajs.Kafka({ brokers, logLevel: kafkajs.logLevel.NOTHING })
  return until(async () => {
    const consumer = kafka.consumer({ groupId, retry: { retries: 0, restartOnFailure: async () => false } })
    const joined = new Promise<boolean>(resolve => {
      consumer.on(consumer.events.GROUP_JOIN, () => resolve(true))
      consumer.on(consumer.events.CRASH, () => resolve(false))
    })
    await consumer.connect()
    await consumer.subscribe({ topic })
    await consumer.run({ eachMessage: async () => undefined })
    if (await joined) return { close: () => consumer.disconnect() }
    await consumer.disconnect()
    return undefined
  })
}

it('a process whose consumer cannot join its group exits with 1', async () => {
  const installation = closing(await startInstallation({}))
  const service = await installation.run()
  process.kill(service.pid, 'SIGSTOP')
  closing(await occupy(installation.topics.dispatcherGroup, installation.topics.events))
  process.kill(service.pid, 'SIGCONT')
  expect(await service.exited).toBe(1)
})

it('a process continues when the reader of its stdout exits, and stops in an orderly way', async () => {
  const ops = `127.0.0.1:${await freePorts(1)}`
  const installation = closing(await startInstallation({ ops: { listen: ops } }))
  const { child, exited, logs } = spawnRun(['--config', installation.configFile])
  closing({ close: async () => void child.kill('SIGKILL') })
  child.stdout?.destroy()
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`the process exited with ${child.exitCode}`)
    const response = await fetch(`http://${ops}/readyz`).catch(() => undefined)
    return response?.ok || undefined
  })
  child.kill('SIGTERM')
  await logs('the process stopped after a signal')
  expect(await exited).toBe(0)
})
