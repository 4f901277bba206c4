import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Conditions } from './conditions.ts'

/** A span as OTLP over HTTP has it in JSON, with its attributes as one object. */
export interface SentSpan {
  readonly name: string
  /** 2 server, 3 client, 4 producer, 5 consumer. */
  readonly kind: number
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[]
  readonly attributes: Readonly<Record<string, unknown>>
}

type Attributes = readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[]

interface Sent {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: Attributes }
    readonly scopeSpans: readonly {
      readonly spans: readonly (Omit<SentSpan, 'attributes'> & { attributes: Attributes })[]
    }[]
  }[]
}

/** Where a tracing system would be. */
export class OtlpReceiver {
  readonly spans: SentSpan[] = []
  /** Of those who sent, as they name themselves. */
  readonly resources: Readonly<Record<string, unknown>>[] = []
  /** What requests had as headers. */
  readonly headers: Readonly<Record<string, unknown>>[] = []
  readonly #changes = new Conditions()
  readonly #server = createServer((request, response) => {
    const pieces: Buffer[] = []
    request.on('data', piece => pieces.push(piece))
    request.on('end', () => {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
      this.headers.push(request.headers)
      this.#take(JSON.parse(Buffer.concat(pieces).toString()) as Sent)
    })
  })

  static async started(): Promise<OtlpReceiver> {
    const receiver = new OtlpReceiver()
    await new Promise<void>(resolve => receiver.#server.listen(0, '127.0.0.1', resolve))
    return receiver
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  until(condition: () => boolean): Promise<void> {
    return this.#changes.until(condition)
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise(resolve => this.#server.close(resolve))
  }

  #take({ resourceSpans }: Sent): void {
    for (const { resource, scopeSpans } of resourceSpans) {
      this.resources.push(plain(resource.attributes))
      for (const span of scopeSpans.flatMap(({ spans }) => spans))
        this.spans.push({ ...span, attributes: plain(span.attributes) })
    }
    this.#changes.changed()
  }
}

const plain = (attributes: Attributes): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))
