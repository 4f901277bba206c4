import { EventEmitter } from 'node:events'
import { expect, it } from '@jest/globals'
import { loadKafkajs } from '../../../../../src/adapters/kafka/kafkajs/load-kafkajs.ts'
import { internal } from '../../../../../src/adapters/kafka/kafkajs/private-api.ts'

interface Runner {
  readonly consuming: boolean
  start(): Promise<void>
  stop(): Promise<void>
}

/**
 * Maximum number of calls of `getNodeIds`, so that a failing test ends. Fetchers that end make
 * fewer calls.
 */
const endless = 1_000
const quiet = { debug: () => undefined, info: () => undefined, warn: () => undefined }
const logger: object = { ...quiet, namespace: () => logger }

it('a consumer that is stopped while kafkajs rebuilds its fetchers ends', async () => {
  loadKafkajs()
  let nodes = ['1', '2']
  let asked = 0
  const crashes: unknown[] = []
  const done: string[] = []
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const { promise: isChanging, resolve: changing } = Promise.withResolvers<void>()
  const consumerGroup = {
    connect: async () => undefined,
    joinAndSync: async () => undefined,
    leave: async () => void done.push('left'),
    heartbeat: async () => undefined,
    getNodeIds() {
      if (++asked >= endless) throw new Error('it goes on for ever')
      // The first fetcher reads the three nodes, and then waits for the end of the second fetcher.
      // The test stops the consumer during this wait.
      if (nodes.length === 3) changing()
      return nodes
    },
    async fetch(nodeId: string) {
      await (nodeId === '1' ? first.promise : second.promise)
      return []
    },
  }
  const Made = internal<new (options: object) => Runner>('consumer/runner')
  const runner = new Made({
    ...{ logger, consumerGroup, instrumentationEmitter: new EventEmitter(), autoCommit: false, concurrency: 1 },
    ...{ retry: { initialRetryTime: 1 }, onCrash: (error: unknown) => crashes.push(error) },
  })
  await runner.start()
  nodes = ['1', '2', '3']
  first.resolve()
  await isChanging
  const stopped = runner.stop()
  second.resolve()
  await stopped
  expect([done, runner.consuming, crashes]).toEqual([['left'], false, []])
  expect(asked).toBeLessThan(endless)
})
