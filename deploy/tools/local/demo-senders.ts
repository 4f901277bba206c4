import { Analytics, type Failure } from '../../../packages/client/src/index.ts'
import { kafkaTransport } from '../../../packages/client-kafka/src/index.ts'
import { callTypes } from '../../../src/core/message/message.ts'
import { type DemoCall, deletedUsers, demoCalls, type Way } from './demo-messages.ts'
import { app, web } from './demo-scenario.ts'
import { hookline } from './service-process.ts'

/** Where messages go in. */
export interface Entrances {
  /** The configuration file, for commands. */
  readonly config: string
  /** URL of the collector. */
  readonly collector: string
  readonly brokers: readonly string[]
  readonly registry: string
  readonly topicPrefix: string
}

export type Entered = Readonly<Record<Way, number>>

/**
 * Sends every message of the demo and tells of each type. How many came in which way, by the senders' own counts.
 * @throws when one of them was not taken
 */
export async function sendAll(to: Entrances, tell: (line: string) => void): Promise<Entered> {
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
    tell(`${calls.length - straight} ${type} to the collector, ${straight} straight to Kafka`)
  }
  await Promise.all(all.map(client => client.close()))
  const deletion = await requestDeletion(to)
  tell(`${deletion} delete, made by a deletion request`)
  const sent = (client: Analytics): number => client.counts.sent
  return { collector: sent(clients.web) + sent(clients.app), kafka: sent(clients.straight), deletion }
}

/** The client library as others use it: with the write key of a source, or with a transport. */
function createClients({ collector: endpoint, brokers, registry, topicPrefix }: Entrances) {
  const onFailure = ({ reason, code, detail, messageIds }: Failure): void => {
    throw new Error(`${messageIds.length} messages were not taken, ${reason} (${code}): ${detail}`)
  }
  const transport = kafkaTransport({ source: web.id, brokers, registry: { url: registry }, topicPrefix })
  return {
    web: new Analytics(web.writeKey, { endpoint, onFailure }),
    app: new Analytics(app.writeKey, { endpoint, onFailure }),
    straight: new Analytics({ transport, onFailure }),
  }
}

/** Nobody but a deletion request may make delete messages: others are dead-lettered. */
async function requestDeletion({ config }: Entrances): Promise<number> {
  await hookline(config, ['delete-user', '--source', web.id, '--user', ...deletedUsers])
  return deletedUsers.length
}
