import { readFile } from 'node:fs/promises'
import { Agent } from 'node:https'
import type { LookupFunction } from 'node:net'
import { join } from 'node:path'
import { request, Agent as UndiciAgent } from 'undici'
import { operatorKey } from '../../support/operator/scripted-deletion-and-audience-api.ts'
import type { Installation } from './installation.ts'
import { nodeAddress } from './node-addresses-and-files.ts'

export interface IngressAnswer {
  /** The HTTP status, or 0 if there was no response. */
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly text: string
}

export interface IngressClient {
  ask(method: 'GET' | 'PUT' | 'PATCH', path: string, options?: IngressRequest): Promise<IngressAnswer>
}

interface IngressRequest {
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: object
}

const lookup: LookupFunction = (_, { all }, callback) =>
  all ? callback(null, [{ address: nodeAddress, family: 4 }]) : callback(null, nodeAddress, 4)

const authorityOf = ({ directory }: Installation): Promise<string> => readFile(join(directory, 'ca.crt'), 'utf8')

/** All connections begin at `localAddress`. */
export const ingressAgent = async (on: Installation, localAddress: string): Promise<Agent> =>
  new Agent({ keepAlive: true, ca: await authorityOf(on), lookup, localAddress })

export async function createIngressClient(
  on: Installation,
  host: string,
  localAddress: string,
): Promise<IngressClient> {
  const dispatcher = new UndiciAgent({ localAddress, connect: { ca: await authorityOf(on), lookup } })
  return {
    async ask(method, path, { headers, body } = {}) {
      const sent = { authorization: `Bearer ${operatorKey}`, ...headers }
      const options = { dispatcher, method, headers: sent, ...(body && { body: JSON.stringify(body) }) }
      try {
        const { statusCode, headers: own, body: answer } = await request(`https://${host}${path}`, options)
        return { status: statusCode, headers: own, text: await answer.text() }
      } catch (error) {
        return { status: 0, headers: {}, text: String(error) }
      }
    },
  }
}
