import { freePorts } from '../../deploy/tools/local/ports.ts'
import { createSink, type Sink, type SinkOptions } from '../../src/adapters/http/sink.ts'
import { durationMs } from '../../src/core/units.ts'
import { selfSigned } from '../support/certificates.ts'

/** What the customers of the pictures have, by destination: most of them are as customers should be. */
const customers = {
  crm: { latency: durationMs(40) },
  warehouse: { latency: durationMs(250) },
  email: { latency: durationMs(90), resetEvery: 12 },
  ads: { latency: durationMs(60) },
  'old-crm': { answers: [410] },
  staging: { tls: selfSigned() },
} as const satisfies Readonly<Record<string, SinkOptions>>

export type Customer = keyof typeof customers
export const customerIds = Object.keys(customers) as readonly Customer[]

/** Real servers, each on a port that stays its own. */
export interface Endpoints {
  urlOf(customer: Customer): string
  /** Nobody listens there any more, as in an outage. */
  takeDown(customer: Customer): Promise<void>
  putBack(customer: Customer): Promise<void>
  close(): Promise<void>
}

export async function startEndpoints(): Promise<Endpoints> {
  const first = await freePorts(customerIds.length)
  const portOf = (customer: Customer): number => first + customerIds.indexOf(customer)
  const up = new Map<Customer, Sink>()
  async function putBack(customer: Customer): Promise<void> {
    const sink = createSink({ ...customers[customer], listen: { host: '127.0.0.1', port: portOf(customer) } })
    await sink.start()
    up.set(customer, sink)
  }
  await Promise.all(customerIds.map(putBack))
  return {
    urlOf: customer => `${customer === 'staging' ? 'https' : 'http'}://127.0.0.1:${portOf(customer)}/hooks`,
    takeDown: async customer => void (await up.get(customer)?.stop()),
    putBack,
    close: async () => void (await Promise.all([...up.values()].map(sink => sink.stop()))),
  }
}
