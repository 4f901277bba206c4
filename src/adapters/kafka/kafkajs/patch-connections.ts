import type { Socket } from 'node:net'
import { errorCodeOf } from './errors.ts'
import { internal, replaceInternal } from './private-api.ts'

/** Patches kafkajs's connections and their request queues. */
export function patchConnections(): void {
  patchJoinConnection()
  patchConcurrentConnects()
  patchIdleTimer()
  patchThrottle()
  patchRequestTimeout()
  patchReconnect()
  patchFailedConnect()
}

interface SentRequest {
  /** The timeout in milliseconds. */
  readonly requestTimeout: number
  timeoutRequest(): void
}

interface RequestQueue {
  readonly pending: readonly unknown[]
  readonly enforceRequestTimeout: boolean
  readonly requestTimeout: number
  /** The requests without a response, by correlation id, in the order of sending. */
  readonly inflight: ReadonlyMap<number, SentRequest>
  requestTimeoutIntervalId?: NodeJS.Timeout
  isConnected(): boolean
  destroy(): void
  sendSocketRequest(request: SentRequest): void
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

interface ConnectingBroker {
  /** `host:port`. */
  readonly brokerAddress: string
  connect(): Promise<void>
}

interface ConnectionPool {
  readonly pool: { isConnected(): boolean }[]
  getConnection(index?: number): Promise<unknown>
  getConnectionByRequest(request: { readonly request: { readonly apiKey: number } }): Promise<unknown>
}

const poolFile = 'network/connectionPool'
/**
 * Index of the connection for JoinGroup. kafkajs uses 1 for fetches and 0 for all other requests.
 */
const joinConnection = 2

/**
 * Defect: kafkajs sends JoinGroup over the same connection as heartbeats and commits
 * (network/connectionPool.js:47), which then wait until all members have joined.
 * Patch: JoinGroup has its own connection.
 * Remove when: kafkajs does not send other requests behind a JoinGroup.
 */
function patchJoinConnection(): void {
  const Original = internal<new (options: object) => ConnectionPool>(poolFile)
  const Connection = internal<new (options: object) => { isConnected(): boolean }>('network/connection')
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
 * Defect: if a broker is not connected, each concurrent request opens a connection
 * (network/connectionPool.js:52). All but one of these connections are never closed.
 * Patch: the requests wait for the same connection.
 * Remove when: kafkajs opens only one connection for concurrent requests.
 */
function patchConcurrentConnects(): void {
  const { prototype } = internal<{ prototype: ConnectionPool }>(poolFile)
  const original = prototype.getConnection
  const connecting = new WeakMap<object, Promise<unknown>>()
  prototype.getConnection = function (this: ConnectionPool, index = 0): Promise<unknown> {
    const connection = this.pool[index]
    if (connection === undefined || connection.isConnected()) return original.call(this, index)
    const opened = connecting.get(connection) ?? original.call(this, index).finally(() => connecting.delete(connection))
    connecting.set(connection, opened)
    return opened
  }
}

/**
 * Defect: a timer sets itself again even when the request queue is empty
 * (network/requestQueue/index.js:306). Each idle connection runs about 900 timers per second.
 * Patch: sets no timer while no request is pending.
 * Remove when: tulios/kafkajs#1704 is fixed.
 */
function patchIdleTimer(): void {
  const { prototype } = internal<{ prototype: RequestQueue }>('network/requestQueue')
  const schedule = prototype.scheduleCheckPendingRequests
  prototype.scheduleCheckPendingRequests = function (this: RequestQueue): void {
    if (this.pending.length > 0) schedule.call(this)
  }
}

/**
 * Defect: the end of a throttle is a time of the wall clock (network/requestQueue/index.js:108),
 * which may be set back.
 * Patch: stores the end in monotonic time.
 * Remove when: kafkajs measures the throttle with a monotonic clock.
 */
function patchThrottle(): void {
  const { prototype } = internal<{ prototype: RequestQueue }>('network/requestQueue')
  /** The end of the last throttle of each queue, in monotonic milliseconds. */
  const endsAt = new WeakMap<RequestQueue, number>()
  Object.defineProperty(prototype, 'throttledUntil', {
    get(this: RequestQueue): number {
      return Date.now() + (endsAt.get(this) ?? 0) - performance.now()
    },
    set(this: RequestQueue, until: number) {
      endsAt.set(this, performance.now() + until - Date.now())
    },
  })
}

const timeoutCheckEveryMs = 100
/**
 * A request fails after this multiple of the request timeout. Each response to an earlier request
 * restarts the timeout, so without this limit a slow broker could delay the failure forever.
 */
const maxTimeouts = 3

/** The time at which each request was sent, in monotonic milliseconds. */
const sentAt = new WeakMap<SentRequest, number>()
/**
 * For each request queue, the time in monotonic milliseconds at which the broker began to handle
 * the oldest request without a response: the time of the previous response.
 */
const startedAt = new WeakMap<RequestQueue, number>()

/**
 * Defects:
 * - kafkajs's request timeout begins when a request is sent (network/requestQueue/index.js:93), but
 *   a broker handles requests one after the other. The last request can time out, and is then sent
 *   and stored twice.
 * - The timeout is measured with the wall clock.
 * - The interval that checks the timeouts (line 91) keeps the process alive.
 * Patch: starts the timeout at the response to the previous request, with a monotonic clock and an
 * unreferenced interval.
 * Remove when: kafkajs has none of these three defects.
 */
function patchRequestTimeout(): void {
  const { prototype } = internal<{ prototype: RequestQueue }>('network/requestQueue')
  const { fulfillRequest: fulfill, sendSocketRequest: send } = prototype

  prototype.sendSocketRequest = function (this: RequestQueue, request): void {
    sentAt.set(request, performance.now())
    send.call(this, request)
  }

  prototype.fulfillRequest = function (this: RequestQueue, answer): void {
    const [first] = this.inflight.keys()
    // Only the response to the oldest request shows that the broker begins to handle the next one.
    if (first !== undefined && answer.correlationId <= first) startedAt.set(this, performance.now())
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
  const now = performance.now()
  const started = startedAt.get(queue) ?? 0
  for (const request of queue.inflight.values()) {
    const { requestTimeout } = request
    const sent = sentAt.get(request) ?? 0
    const isOverdue = now - Math.max(sent, started) > requestTimeout || now - sent > maxTimeouts * requestTimeout
    if (isOverdue) request.timeoutRequest()
  }
}

const lengthBytes = 4

/**
 * Defect: a reconnect keeps the partly received response of the old socket
 * (network/connection.js:87, 166), so the bytes of the new socket are misread.
 * Patch: `connect` discards the partly received response, and ignores later data and errors of the
 * old socket.
 * Remove when: kafkajs discards the partly received response in `connect`.
 */
function patchReconnect(): void {
  const { prototype } = internal<{ prototype: Connection }>('network/connection')
  const connect = prototype.connect
  /**
   * The sockets whose connection attempt has ended. `detachSocket` ignores errors only of these
   * sockets, because an error during an attempt must reject the attempt.
   */
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

/** The errors of `connect` if the connection opens, but is closed or gets no response in time. */
const noFirstResponseErrors: ReadonlySet<string> = new Set([
  'KafkaJSConnectionClosedError',
  'KafkaJSRequestTimeoutError',
])

/**
 * Defect: kafkajs tries another broker only after a `KafkaJSConnectionError`
 * (cluster/brokerPool.js:96), so not after a connection that opens, but gets no response.
 * Patch: throws a `KafkaJSConnectionError`.
 * Remove when: kafkajs tries another broker after each failed attempt to connect.
 */
function patchFailedConnect(): void {
  const { prototype } = internal<{ prototype: ConnectingBroker }>('broker')
  const { KafkaJSConnectionError } = internal<{
    readonly KafkaJSConnectionError: new (message: string, facts: { broker: string; code: string }) => Error
  }>('errors')
  const connect = prototype.connect
  prototype.connect = async function (this: ConnectingBroker): Promise<void> {
    try {
      await connect.call(this)
    } catch (error) {
      if (!(error instanceof Error) || !noFirstResponseErrors.has(error.name)) throw error
      const facts = { broker: this.brokerAddress, code: errorCodeOf(error) }
      throw new KafkaJSConnectionError(`Connection error: ${error.message}`, facts)
    }
  }
}
