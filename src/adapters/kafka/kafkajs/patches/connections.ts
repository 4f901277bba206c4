import type { Socket } from 'node:net'
import { internal, replaceInternal } from '../private-api.ts'

/** Applies the patches of kafkajs's connections and their request queues. */
export function patchConnections(): void {
  patchJoinConnection()
  patchIdleTimer()
  patchRequestTimeout()
  patchReconnect()
}

interface SentRequest {
  /** Milliseconds since 1970. */
  readonly sentAt: number
  /** Milliseconds. */
  readonly requestTimeout: number
  timeoutRequest(): void
}

interface RequestQueue {
  readonly pending: readonly unknown[]
  readonly enforceRequestTimeout: boolean
  readonly requestTimeout: number
  /** By correlation id, which increases; in the order of sending. */
  readonly inflight: ReadonlyMap<number, SentRequest>
  requestTimeoutIntervalId?: NodeJS.Timeout
  isConnected(): boolean
  destroy(): void
  fulfillRequest(answer: { readonly correlationId: number }): void
  scheduleRequestTimeoutCheck(): void
  scheduleCheckPendingRequests(): void
}

interface Connection {
  socket?: Socket
  chunks: Buffer[]
  bytesBuffered: number
  bytesNeeded: number
  isConnected(): boolean
  connect(): Promise<boolean>
}

interface ConnectionPool {
  readonly pool: unknown[]
  getConnection(index: number): Promise<unknown>
  getConnectionByRequest(request: { readonly request: { readonly apiKey: number } }): Promise<unknown>
}

const poolFile = 'network/connectionPool'
/** Index in the pool, after the connections for fetches (0) and for all other requests (1). */
const joinConnection = 2

/**
 * Defect: a broker answers the requests of one connection in order, and a JoinGroup only when every
 * member has sent one or has timed out. kafkajs sends heartbeats and commits over the same
 * connection (network/connectionPool.js:47), so they wait for the join.
 * Patch: JoinGroup has its own connection, opened on first use.
 * Remove when: kafkajs does not send other requests behind a JoinGroup.
 */
function patchJoinConnection(): void {
  const Original = internal<new (options: object) => ConnectionPool>(poolFile)
  const Connection = internal<new (options: object) => unknown>('network/connection')
  const { JoinGroup } = internal<{ readonly JoinGroup: number }>('protocol/requests/apiKeys')

  replaceInternal(
    poolFile,
    class extends Original {
      constructor(options: object) {
        super(options)
        this.pool.push(new Connection(options))
      }

      override getConnectionByRequest(
        request: Parameters<ConnectionPool['getConnectionByRequest']>[0],
      ): Promise<unknown> {
        return request.request.apiKey === JoinGroup
          ? this.getConnection(joinConnection)
          : super.getConnectionByRequest(request)
      }
    },
  )
}

/**
 * Defect: after every answer kafkajs sets a timer to check its queue, with a negative delay when
 * the broker does not throttle (network/requestQueue/index.js:306): some 900 timers a second on
 * each idle connection (tulios/kafkajs#1704), and a warning from Node.
 * Patch: no timer while nothing is pending.
 * Remove when: tulios/kafkajs#1704 is fixed.
 */
function patchIdleTimer(): void {
  const { prototype } = internal<{ prototype: RequestQueue }>('network/requestQueue')
  const schedule = prototype.scheduleCheckPendingRequests
  prototype.scheduleCheckPendingRequests = function (this: RequestQueue): void {
    if (this.pending.length > 0) schedule.call(this)
  }
}

const timeoutCheckEveryMs = 100
/** A request fails after this many timeouts in any case, so that its leader is looked up again. */
const maxTimeouts = 3

/** When the broker could begin with the first request in flight, as its answers show. */
const startedAt = new WeakMap<RequestQueue, number>()

/**
 * Defect: a broker handles the requests of one connection one after the other. kafkajs counts the
 * time in that queue as time without an answer (network/requestQueue/index.js:93): of 240 requests
 * for the partitions of a new topic, at 50 ms each, the last time out and are sent again, and the
 * broker stores their records twice. The interval of the check (line 91) also keeps a process alive
 * that has nothing else to do.
 * Patch: the timeout begins when the request before it is answered; the interval is unreferenced.
 * Remove when: kafkajs's timeout begins with the previous answer, and its interval is unreferenced.
 */
function patchRequestTimeout(): void {
  const { prototype } = internal<{ prototype: RequestQueue }>('network/requestQueue')
  const fulfill = prototype.fulfillRequest

  prototype.fulfillRequest = function (this: RequestQueue, answer): void {
    const [first] = this.inflight.keys()
    // An answer to a later request means that the first one's is lost: its timeout continues.
    if (first !== undefined && answer.correlationId <= first) startedAt.set(this, Date.now())
    fulfill.call(this, answer)
  }

  prototype.scheduleRequestTimeoutCheck = function (this: RequestQueue): void {
    if (!this.enforceRequestTimeout) return
    this.destroy()
    const check = (): void => {
      timeOutRequests(this)
      if (!this.isConnected()) this.destroy()
    }
    this.requestTimeoutIntervalId = setInterval(check, Math.min(this.requestTimeout, timeoutCheckEveryMs)).unref()
  }
}

function timeOutRequests(queue: RequestQueue): void {
  // kafkajs stamps its requests with the wall clock.
  const now = Date.now()
  const started = startedAt.get(queue) ?? 0
  for (const request of queue.inflight.values()) {
    const { sentAt, requestTimeout } = request
    const isOverdue = now - Math.max(sentAt, started) > requestTimeout || now - sentAt > maxTimeouts * requestTimeout
    if (isOverdue) request.timeoutRequest()
  }
}

/** The length in front of each answer. */
const lengthBytes = 4

/**
 * Defect: kafkajs reuses the object of a broken connection, and with it the part of an answer that
 * had arrived (network/connection.js:166 resets none of the fields of line 87). It takes the first
 * bytes of the new connection for the rest: no answer is understood, and each request times out
 * until the process ends.
 * Patch: each connection begins with empty fields, and ignores data and errors of the old socket.
 * Remove when: kafkajs resets these fields in `connect`.
 */
function patchReconnect(): void {
  const { prototype } = internal<{ prototype: Connection }>('network/connection')
  const connect = prototype.connect
  /** Sockets whose connection attempt has ended: nothing waits for their errors. */
  const settled = new WeakSet<Socket>()

  prototype.connect = async function (this: Connection): Promise<boolean> {
    if (this.isConnected()) return connect.call(this)
    if (this.socket !== undefined) detachSocket(this.socket, settled.has(this.socket))
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

function detachSocket(socket: Socket, isSettled: boolean): void {
  socket.removeAllListeners('data').removeAllListeners('end').resume()
  if (isSettled) socket.removeAllListeners('error').on('error', () => undefined)
}
