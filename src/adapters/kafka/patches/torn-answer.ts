import type { Socket } from 'node:net'
import { internal } from '../internals.ts'

interface Connection {
  socket?: Socket
  chunks: Buffer[]
  bytesBuffered: number
  bytesNeeded: number
  isConnected(): boolean
  connect(): Promise<boolean>
}

/** The length in front of each answer. */
const lengthBytes = 4

/**
 * kafkajs uses a connection that broke again for the next one, and with it the part of an answer that had come when it broke: what the new one
 * brings is taken for the rest of that. No answer is understood any more, each request times out, until the process ends. So each begins with
 * nothing, and what the old one may still bring, its end too, is not listened to.
 */
export function cureTornAnswer(): void {
  const { prototype } = internal<{ prototype: Connection }>('network/connection')
  const connect = prototype.connect
  prototype.connect = function (this: Connection): Promise<boolean> {
    if (!this.isConnected()) {
      this.socket?.removeAllListeners('data').removeAllListeners('end').resume()
      this.chunks = []
      this.bytesBuffered = 0
      this.bytesNeeded = lengthBytes
    }
    return connect.call(this)
  }
}
