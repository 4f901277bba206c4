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
 * nothing, and what the old one may still bring, its end and its errors too, is not listened to.
 */
export function cureTornAnswer(): void {
  const { prototype } = internal<{ prototype: Connection }>('network/connection')
  const connect = prototype.connect
  /** Those of which is known whether they were connected: nobody waits for an error of theirs. */
  const settled = new WeakSet<Socket>()

  prototype.connect = async function (this: Connection): Promise<boolean> {
    if (this.isConnected()) return connect.call(this)
    if (this.socket !== undefined) leave(this.socket, settled.has(this.socket))
    this.chunks = []
    this.bytesBuffered = 0
    this.bytesNeeded = lengthBytes
    const connecting = connect.call(this)
    const { socket } = this
    try {
      return await connecting
    } finally {
      if (socket !== undefined) settled.add(socket)
    }
  }
}

function leave(socket: Socket, isSettled: boolean): void {
  socket.removeAllListeners('data').removeAllListeners('end').resume()
  if (isSettled) socket.removeAllListeners('error').on('error', () => undefined)
}
