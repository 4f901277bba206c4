import { Analytics, type Failure } from '../../../packages/client/src/index.ts'
import { kafkaTransport } from '../../../packages/client-kafka/src/index.ts'
import { callTypes } from '../../../src/core/message/message.ts'
import { app, web } from './demo-configuration.ts'
import { type DemoCall, deletedUsers, demoCalls, type Way } from './demo-messages.ts'
import { hookline } from './hookline-process.ts'

/** The addresses and settings with which the demo sends messages. */
export interface Entrances {
  /** Path of the configuration file, for `hookline` commands. */
  readonly config: string
  readonly collector: string
  readonly brokers: readonly string[]
  readonly registry: string
  readonly topicPrefix: string
}

export type Entered = Readonly<Record<Way, number>>

/**
 * Sends all messages of the demo and prints a line for each type. Resolves with the number of
 * messages for each way.
 * @throws Error when a message was not accepted
 */
export async function sendAll(to: Entrances, print: (line: string) => void): Promise<Entered> {
  const clients = createClients(to)
  const clientOf = ({ way, source }: DemoCall): Analytics =>
    way === 'kafka' ? clients.straight : source === app ? clients.app : clients.web
  const all = Object.values(clients)
  for (const type of callTypes) {
    const calls = demoCalls(type)
    for (const call of calls) {
      const client = clientOf(call)
      void (client[type] as (fields: object) => Promise<void>).call(client, call.fields)
    }
    await Promise.all(all.map(client => client.flush()))
    const straight = calls.filter(({ way }) => way === 'kafka').length
    print(`${calls.length - straight} ${type} messages to the collector, ${straight} directly to Kafka`)
  }
  await Promise.all(all.map(client => client.close()))
  const deletion = await requestDeletion(to)
  print(`${deletion} delete messages, from a deletion request`)
  const sent = (client: Analytics): number => client.counts.sent
  return { collector: sent(clients.web) + sent(clients.app), kafka: sent(clients.straight), deletion }
}

function createClients({ collector: endpoint, brokers, registry, topicPrefix }: Entrances) {
  const onFailure = ({ reason, code, detail, messageIds }: Failure): void => {
    throw new Error(`${messageIds.length} messages not delivered: ${reason} (${code}). ${detail}`)
  }
  const transport = kafkaTransport({ source: web.id, brokers, registry: { url: registry }, topicPrefix })
  return {
    web: new Analytics(web.writeKey, { endpoint, onFailure }),
    app: new Analytics(app.writeKey, { endpoint, onFailure }),
    straight: new Analytics({ transport, onFailure }),
  }
}

/**
 * Requests the deletion of users with a command, because only Hookline itself may write delete
 * messages.
 */
async function requestDeletion({ config }: Entrances): Promise<number> {
  await hookline(config, ['delete-user', '--source', web.id, '--user', ...deletedUsers])
  return deletedUsers.length
}
