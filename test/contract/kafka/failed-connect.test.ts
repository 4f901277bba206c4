import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { expect, it } from '@jest/globals'
import { createAdmin } from '../../../src/adapters/kafka/log/topic-admin.ts'
import { afterwards, brokers, kafka, newTopic } from './test-clients-and-topics.ts'

/** What a server does with each new connection. */
const faults = {
  'closes new connections, as a load balancer does whose broker is down': socket => void socket.resume().end(),
  'accepts connections, but does not respond': socket => void socket.resume(),
} satisfies Record<string, (socket: Socket) => void>

/** Starts a server with this fault. Resolves with its address. */
async function startFaulty(fault: keyof typeof faults): Promise<string> {
  const sockets: Socket[] = []
  const server = createServer(socket => {
    sockets.push(socket)
    faults[fault](socket)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  afterwards(async () => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

it.each(Object.keys(faults) as (keyof typeof faults)[])(
  'a client uses the next broker when the first one %s',
  async fault => {
    const topic = await newTopic()
    const admin = createAdmin(kafka([await startFaulty(fault), ...brokers()]))
    afterwards(() => admin.close())
    expect(await admin.listTopics()).toContain(topic)
  },
)

it('without another broker, the error says that the connection was closed', async () => {
  const admin = createAdmin(kafka([await startFaulty(Object.keys(faults)[0] as keyof typeof faults)]))
  afterwards(() => admin.close())
  await expect(admin.listTopics()).rejects.toMatchObject({
    ...{ name: 'KafkaError', code: 'CONNECTION_CLOSED', retriable: true },
    message: expect.stringContaining('Connection error: Closed connection'),
  })
})
