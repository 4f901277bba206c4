import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { HttpEndpoint, type ServerTls } from '../network/http-endpoint.ts'

interface Client {
  readonly id: string
  readonly secret: string
}

/** Decodes `application/x-www-form-urlencoded` without the code under test. */
const formDecoded = (value: string): string => decodeURIComponent(value.replaceAll('+', ' '))

function clientIn({ headers }: IncomingMessage, form: URLSearchParams): Client {
  const [scheme, base64 = ''] = (headers.authorization ?? '').split(' ')
  if (scheme !== 'Basic') return { id: form.get('client_id') ?? '', secret: form.get('client_secret') ?? '' }
  const [id = '', secret = ''] = Buffer.from(base64, 'base64').toString().split(':')
  return { id: formDecoded(id), secret: formDecoded(secret) }
}

/** An authorization server with one client. `accepts` recognises a token until it is revoked. */
export class TokenServer {
  /** Lifetime of a token, in seconds (`expires_in`). */
  lifetime = 3_600
  isDown = false
  readonly scopes: (string | null)[] = []
  readonly issued: string[] = []
  readonly #valid = new Set<string>()
  readonly #endpoint: HttpEndpoint
  #client: Client
  #gate: Promise<void> = Promise.resolve()

  constructor(client: Client, tls?: ServerTls) {
    this.#client = client
    this.#endpoint = new HttpEndpoint((request, response) => this.#respond(request, response), tls)
  }

  start(): Promise<void> {
    return this.#endpoint.start()
  }

  close(): Promise<void> {
    return this.#endpoint.close()
  }

  get url(): string {
    return `${this.#endpoint.url}/token`
  }

  accepts({ headers }: IncomingMessage): boolean {
    const [scheme, token = ''] = (headers.authorization ?? '').split(' ')
    return scheme === 'Bearer' && this.#valid.has(token)
  }

  /** Changes the client's secret. Issued tokens stay valid. */
  setSecret(secret: string): void {
    this.#client = { ...this.#client, secret }
  }

  revokeAll(): void {
    this.#valid.clear()
  }

  hold(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#gate = promise
    return resolve
  }

  async #respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const form = new URLSearchParams(await text(request))
    this.scopes.push(form.get('scope'))
    await this.#gate
    const given = clientIn(request, form)
    const isClient = given.id === this.#client.id && given.secret === this.#client.secret
    if (this.isDown) return send(response, 503, {})
    if (form.get('grant_type') !== 'client_credentials') return send(response, 400, { error: 'unsupported_grant_type' })
    if (!isClient) return send(response, 401, { error: 'invalid_client', error_description: given.secret })
    const token = `kept-secret-token-${this.issued.length + 1}`
    this.issued.push(token)
    this.#valid.add(token)
    send(response, 200, { access_token: token, token_type: 'Bearer', expires_in: this.lifetime })
  }
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' })
  response.end(JSON.stringify(body))
}
