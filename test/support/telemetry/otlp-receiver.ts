import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { Conditions } from '../awaited-conditions.ts'
import { HttpEndpoint } from '../network/http-endpoint.ts'
import { assertNoSecrets } from '../secret-scan/make-and-find-test-secrets.ts'

/** A span in OTLP/JSON, with its attributes in one object. */
export interface SentSpan {
  readonly name: string
  /** Span kind: 2 server, 3 client, 4 producer, 5 consumer. */
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

/** A tracing backend that records the received spans. */
export class OtlpReceiver {
  readonly spans: SentSpan[] = []
  readonly resources: Readonly<Record<string, unknown>>[] = []
  readonly headers: Readonly<Record<string, unknown>>[] = []
  readonly #bodies: string[] = []
  readonly #changes = new Conditions()
  readonly #endpoint = new HttpEndpoint((request, response) => this.#answer(request, response))

  static async started(): Promise<OtlpReceiver> {
    const receiver = new OtlpReceiver()
    await receiver.#endpoint.start()
    return receiver
  }

  get url(): string {
    return this.#endpoint.url
  }

  until(condition: () => boolean): Promise<void> {
    return this.#changes.until(condition)
  }

  /** @throws when a request had a secret in its body */
  async close(): Promise<void> {
    await this.#endpoint.close()
    assertNoSecrets('the trace data', this.#bodies.join('\n'))
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request)
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    this.headers.push(request.headers)
    this.#bodies.push(body)
    this.#take(JSON.parse(body) as Sent)
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
