import net, { type Socket } from 'node:net'
import { Conditions } from '../awaited-conditions.ts'

export interface WireAnswer {
  readonly status: number
  readonly reason: string
  /** By name in lower case. A repeated name is an error. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** A client that sends bytes unchanged and parses responses strictly. */
export interface Wire {
  /** Resolves when the kernel has accepted the bytes, or the connection is closed. */
  send(bytes: string | Buffer): Promise<void>
  end(): void
  reset(): void
  /**
   * Resolves with the next final response. Rejects if the connection ends first. For `HEAD`, no
   * body is expected.
   */
  answer(method?: string): Promise<WireAnswer>
  readonly interim: readonly number[]
  /** Received text that is not yet part of a complete response. */
  readonly unread: string
  readonly closed: Promise<'end' | 'reset'>
}

/** Connects to the host and port of a base URL. In all texts, one character is one byte. */
export function connect(url: string, localAddress?: string): Promise<Wire> {
  const { hostname, port } = new URL(url)
  const socket = net.connect({
    host: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port),
    allowHalfOpen: true,
    ...(localAddress !== undefined && { localAddress }),
  })
  return new Promise((resolve, reject) => {
    socket.once('error', reject)
    socket.once('connect', () => resolve(createWire(socket)))
  })
}

function createWire(socket: Socket): Wire {
  const arrived = new Conditions()
  const interim: number[] = []
  let unread = ''
  let ended: 'end' | 'reset' | undefined
  const gone = new Promise<void>(resolve => void socket.once('close', () => resolve()))
  socket.setNoDelay(true)
  socket.on('data', piece => {
    unread += piece.toString('latin1')
    arrived.changed()
  })
  const onEnd = (how: 'end' | 'reset') => (): void => {
    ended ??= how
    arrived.changed()
  }
  socket.on('error', onEnd('reset'))
  socket.on('end', onEnd('end'))
  socket.on('close', onEnd('reset'))

  function take(method: string): WireAnswer | Error | undefined {
    const head = /^HTTP\/1\.1 (\d{3}) ([^\r\n]*)\r\n((?:[^\r\n]+\r\n)*)\r\n/.exec(unread)
    if (head === null) return undefined
    const [all, status = '', reason = '', lines = ''] = head
    if (status.startsWith('1')) {
      interim.push(Number(status))
      unread = unread.slice(all.length)
      return take(method)
    }
    const headers = headersOf(lines)
    if (headers instanceof Error) return headers
    const length = method === 'HEAD' || status === '204' ? 0 : Number(headers['content-length'])
    if (Number.isNaN(length)) return new Error(`an answer without a length: ${all}`)
    if (unread.length < all.length + length) return undefined
    const body = Buffer.from(unread.slice(all.length, all.length + length), 'latin1').toString()
    unread = unread.slice(all.length + length)
    return { status: Number(status), reason, headers, body }
  }

  return {
    interim,
    get unread() {
      return unread
    },
    send: bytes => {
      const written = new Promise<void>(resolve => {
        socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes, () => resolve())
      })
      return Promise.race([written, gone])
    },
    end: () => void socket.end(),
    // A reset while Node sends FIN would leave the handle of the connection open for ever.
    reset: () => void (socket.writableEnded && !socket.writableFinished ? socket.destroy() : socket.resetAndDestroy()),
    async answer(method = 'POST') {
      let found: WireAnswer | Error | undefined
      await arrived.until(() => {
        found = take(method)
        return found !== undefined || ended !== undefined
      })
      if (found === undefined) throw new Error(`the connection was closed (${ended}) after: ${JSON.stringify(unread)}`)
      if (found instanceof Error) throw found
      return found
    },
    closed: arrived.until(() => ended !== undefined).then(() => ended ?? 'reset'),
  }
}

function headersOf(lines: string): Record<string, string> | Error {
  const headers: Record<string, string> = {}
  for (const line of lines.split('\r\n').slice(0, -1)) {
    const [, name = '', value = ''] = /^([^:\s]+): (.*)$/.exec(line) ?? []
    if (name === '') return new Error(`no header field: ${JSON.stringify(line)}`)
    if (headers[name.toLowerCase()] !== undefined) return new Error(`twice: ${line}`)
    headers[name.toLowerCase()] = value
  }
  return headers
}
