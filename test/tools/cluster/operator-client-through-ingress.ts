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
  /** Sends a request with the operator key, and a body as JSON. */
  ask(method: 'GET' | 'PUT' | 'PATCH', path: string, options?: IngressRequest): Promise<IngressAnswer>
}

interface IngressRequest {
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: object
}

/** Resolves every host name to the address of the node. */
const lookup: LookupFunction = (_, { all }, callback) =>
  all ? callback(null, [{ address: nodeAddress, family: 4 }]) : callback(null, nodeAddress, 4)

/** The certificate authority, in the working directory of the installation. */
const authorityOf = ({ directory }: Installation): Promise<string> => readFile(join(directory, 'ca.crt'), 'utf8')

/** Connections to the Ingress controller from an address of this machine. */
export const ingressAgent = async (on: Installation, localAddress: string): Promise<Agent> =>
  new Agent({ keepAlive: true, ca: await authorityOf(on), lookup, localAddress })

/** Creates a client of the operator API through the Ingress controller. */
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
