import { createCipheriv, createHmac } from 'node:crypto'
import { once } from 'node:events'
import net, { type AddressInfo, type Socket } from 'node:net'
import tls from 'node:tls'
import type { Leaf } from './certificates.ts'

/** The content types of TLS records (RFC 8446 5.1). */
const handshake = 22
const applicationData = 23
/** A KeyUpdate that requests none in return (RFC 8446 4.6.3). */
const keyUpdate = Buffer.from([24, 0, 0, 1, 0])
const cipher = 'TLS_AES_128_GCM_SHA256'
/** OpenSSL sends two session tickets after a full handshake, before the first response. */
const tickets = 2

/** HKDF-Expand-Label (RFC 8446 7.1), for at most 32 bytes. */
function expand(secret: Buffer, label: string, length: number): Buffer {
  const name = Buffer.from(`tls13 ${label}`)
  const info = Buffer.concat([Buffer.from([0, length, name.length]), name, Buffer.from([0, 1])])
  return createHmac('sha256', secret).update(info).digest().subarray(0, length)
}

/** Encrypts what a server sends after the handshake. Node has no method that sends a KeyUpdate. */
class ServerRecords {
  #secret: Buffer
  #sequence = tickets

  constructor(secret: Buffer) {
    this.#secret = secret
  }

  response(text: string): Buffer {
    return this.#seal(applicationData, Buffer.from(text))
  }

  keyUpdate(): Buffer {
    const record = this.#seal(handshake, keyUpdate)
    this.#secret = expand(this.#secret, 'traffic upd', 32)
    this.#sequence = 0
    return record
  }

  #seal(type: number, content: Buffer): Buffer {
    const nonce = expand(this.#secret, 'iv', 12)
    nonce.writeUInt32BE((nonce.readUInt32BE(8) ^ this.#sequence++) >>> 0, 8)
    const inner = Buffer.concat([content, Buffer.from([type])])
    const head = Buffer.from([applicationData, 3, 3, 0, 0])
    head.writeUInt16BE(inner.length + 16, 3)
    const sealing = createCipheriv('aes-128-gcm', expand(this.#secret, 'key', 16), nonce).setAAD(head)
    return Buffer.concat([head, sealing.update(inner), sealing.final(), sealing.getAuthTag()])
  }
}

/** Returns the records that a server sends after the first bytes from a client. */
export type AnswerWithRecords = (records: ServerRecords) => readonly Buffer[]

export interface KeyUpdateServer {
  readonly url: string
  /** Resolves when a connection has closed. */
  readonly closed: Promise<void>
  close(): Promise<void>
}

/**
 * Starts a TLS 1.3 server on 127.0.0.1 that sends the records of `answer` on each connection. It
 * expects full handshakes.
 */
export async function startKeyUpdateServer(leaf: Leaf, answer: AnswerWithRecords): Promise<KeyUpdateServer> {
  const closed = Promise.withResolvers<void>()
  const sockets = new Set<Socket>()
  const secureContext = tls.createSecureContext({ ...leaf, minVersion: 'TLSv1.3', ciphers: cipher })
  const server = net.createServer(raw => {
    sockets.add(raw)
    const socket = new tls.TLSSocket(raw, { isServer: true, secureContext })
    for (const each of [raw, socket]) each.on('error', () => {})
    socket.once('close', () => closed.resolve())
    socket.on('keylog', (line: Buffer) => {
      const [, secret] = /^SERVER_TRAFFIC_SECRET_0 \w+ (\w+)/.exec(line.toString()) ?? []
      if (secret === undefined) return
      const records = new ServerRecords(Buffer.from(secret, 'hex'))
      // Node writes the session tickets after this event.
      socket.once('data', () => setImmediate(() => raw.write(Buffer.concat(answer(records)))))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    closed: closed.promise,
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
