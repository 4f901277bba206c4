import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Fifo } from '../../core/collections/fifo.ts'
import { ConnectionLimiter } from '../../core/network/connection-limiter.ts'
import { socketAddressOf } from './client-address.ts'

/**
 * Maximum milliseconds for parsing in one iteration of the event loop. Node accepts only one new
 * connection per iteration: with 25 ms, 20 busy connections made new connections wait for up to 11
 * s.
 */
const parseMs = 2
/**
 * Maximum number of requests without a response on all connections of a server. Above it, a
 * connection with an unanswered request parses no further requests. The maximum bounds the work at
 * the end of an outage of Kafka, when all responses are sent together.
 */
const maxUnansweredInTotal = 5_000
/** Maximum number of lines of a body that are parsed together. A chunk has two lines. */
const linesPerPiece = 64
/**
 * Maximum bytes of small data. Small data that arrives after `parseMs` waits only briefly, so its
 * connection does not count towards `maxWaiting`.
 */
const smallData = 16_384
/**
 * Maximum number of waiting connections, without those that `smallData` exempts. Bounds the memory:
 * with the `highWaterMark` of node-server.ts, each connection holds up to 80 KiB of data.
 */
const maxWaiting = 1_000

interface ParseState {
  /** The latest request. Its body may still be arriving. */
  current: IncomingMessage | undefined
  /** Requests whose response is not completely sent. */
  unanswered: number
  /**
   * `iteration`: the next iteration of the event loop. `answer`: a response to an earlier request.
   * `client`: Node has paused the socket, because the client does not read a response, or the
   * server does not read a body.
   */
  waitsFor: 'iteration' | 'answer' | 'client' | undefined
  continue(): void
  /**
   * The listeners of `close` at the start of the connection, among them Node's own. After CONNECT,
   * Node removes its listener, and `stopAtConnect` adds it again.
   */
  readonly onClose: ReturnType<Socket['rawListeners']>
}

/**
 * Parses the data of a server's connections in small pieces. Node itself parses all data that has
 * arrived on a connection in one call: 64 KiB with thousands of pipelined requests or chunks. Some
 * hundred connections of this kind would block the event loop for seconds, and fill the heap.
 *
 * - In each iteration of the event loop, one piece of each connection is parsed: up to one request
 *   head, or up to `linesPerPiece` lines of a body.
 * - After `parseMs`, parsing stops until the next iteration. New data waits behind the data that
 *   already waits.
 * - A connection with `maxUnanswered` requests without a response waits. While all connections
 *   together have `maxUnansweredInTotal`, each may have only one.
 * - At most `maxWaiting` connections wait, not counting those that `smallData` exempts. For one
 *   more, a connection of the client address with the most waiting connections is closed.
 */
export function paceParsing(server: Server, maxUnanswered: number): void {
  const states = new WeakMap<Socket, ParseState>()
  const waiting = new ConnectionLimiter<Socket>(maxWaiting, maxWaiting)
  const iterations = createIterations()
  let unansweredInTotal = 0
  stopAtConnect(server, states)

  server.on('connection', (socket: Socket) => {
    // `parse` is Node's own listener of `data`. Node has added it in its earlier listener of
    // `connection`.
    const [parse] = socket.listeners('data') as [((piece: Buffer) => void) | undefined]
    if (parse === undefined) return
    socket.off('data', parse)
    const address = socketAddressOf(socket)
    const state: ParseState = {
      ...{ current: undefined, unanswered: 0, waitsFor: undefined, continue: proceed },
      onClose: socket.rawListeners('close'),
    }
    states.set(socket, state)

    function onData(data: Buffer): void {
      // The server has sent its last response on this connection.
      if (socket.writableEnded) return
      // Node may resume the socket while the connection still waits. The new data must then wait
      // too.
      if (state.waitsFor === 'iteration' || (state.waitsFor === 'answer' && isFull(state))) return hold(socket, data)
      stopWaiting()
      if (isFull(state)) return waitWithMuch('answer', data)
      if (iterations.isOver())
        return data.length > smallData ? waitWithMuch('iteration', data) : wait('iteration', data)
      const end = endOfPiece(data, state.current?.complete === false)
      const isOnePiece = end === data.length
      parse?.call(socket, isOnePiece ? data : data.subarray(0, end))
      if (socket.destroyed || !states.has(socket)) return
      if (socket.isPaused()) waitWithMuch('client', data.subarray(end))
      else if (!isOnePiece) waitWithMuch(isFull(state) ? 'answer' : 'iteration', data.subarray(end))
    }

    function waitWithMuch(reason: ParseState['waitsFor'], data: Buffer): void {
      const admission = waiting.open(socket, address)
      if (admission.kind === 'replaces') admission.idle.destroy()
      wait(reason, data)
    }
    function wait(reason: ParseState['waitsFor'], data: Buffer): void {
      state.waitsFor = reason
      if (reason === 'iteration') iterations.add(state)
      hold(socket, data)
    }
    function stopWaiting(): void {
      waiting.close(socket)
      state.waitsFor = undefined
    }
    function proceed(): void {
      stopWaiting()
      socket.resume()
    }

    socket.on('data', onData)
    socket.on('resume', () => {
      if (state.waitsFor === 'client') stopWaiting()
    })
    socket.once('close', stopWaiting)
  })

  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    const state = states.get(request.socket)
    if (state === undefined) return
    state.current = request
    state.unanswered += 1
    unansweredInTotal += 1
    response.once('close', () => {
      state.unanswered -= 1
      unansweredInTotal -= 1
      if (state.waitsFor === 'answer' && !isFull(state)) state.continue()
    })
  })

  // Whether the connection must wait. With the maximum number of unanswered requests it must,
  // unless the body of its latest request is incomplete, because this body must be parsed. The
  // piece with the end of the body may also have the next head, so `unanswered` can exceed the
  // maximum by one.
  function isFull({ unanswered, current }: ParseState): boolean {
    const most = unansweredInTotal < maxUnansweredInTotal ? maxUnanswered : 1
    return unanswered > most || (unanswered === most && current?.complete !== false)
  }
}

/** Pauses the socket, and keeps its unparsed data. */
function hold(socket: Socket, data: Buffer): void {
  socket.pause()
  if (data.length > 0) socket.unshift(data)
}

/** After CONNECT, Node no longer parses the data of the connection. */
function stopAtConnect(server: Server, states: WeakMap<Socket, ParseState>): void {
  server.prependListener('connect', (_request: IncomingMessage, socket: Socket) => {
    const { onClose = [] } = states.get(socket) ?? {}
    states.delete(socket)
    socket.removeAllListeners('data')
    // Node has removed its listener of `close`. Without it, the responses to earlier requests would
    // emit no `close`, and `unansweredInTotal` would stay too high.
    const present = socket.rawListeners('close')
    for (const listener of onClose) if (!present.includes(listener)) socket.on('close', listener as () => void)
    // Node has removed its listener of `error`. Without one, an error of this connection would end
    // the process.
    socket.on('error', () => {})
    // Node closes the connection only when no listener of `connect` exists. If this listener is the
    // only one, it must close the connection itself.
    if (server.listenerCount('connect') === 1) socket.destroy()
  })
}

/**
 * Measures the iterations of the event loop. In each one, the waiting connections continue in
 * order.
 */
function createIterations() {
  const waiting = new Fifo<ParseState>()
  let isMeasured = false
  let endsAt = 0

  function begin(): void {
    endsAt = performance.now() + parseMs
    isMeasured = true
    setImmediate(next)
  }
  function next(): void {
    isMeasured = false
    if (waiting.length === 0) return
    begin()
    continueSome(waiting.length)
  }
  function continueSome(most: number): void {
    if (most === 0 || performance.now() > endsAt) return
    const first = waiting.shift()
    if (first === undefined) return
    if (first.waitsFor === 'iteration') first.continue()
    // After `continue`, a `nextTick` callback parses the data of the socket. `continueSome` must
    // run after this callback, so that the check of `endsAt` includes the time of the parsing.
    process.nextTick(continueSome, most - 1)
  }
  return {
    /** Whether the time for parsing in this iteration is over. */
    isOver(): boolean {
      if (!isMeasured) begin()
      return performance.now() > endsAt
    },
    /** Lets the connection continue in a later iteration. */
    add(state: ParseState): void {
      waiting.push(state)
      if (!isMeasured) begin()
    },
  }
}

const emptyLine = '\r\n\r\n'

/**
 * Returns the offset at which the first piece of the data ends. `isBody`: whether the data begins
 * in a body. Data with at most one empty line (the normal end of a head) and fewer than
 * `linesPerPiece` lines of a body is one piece. Otherwise, the piece ends at the first empty line
 * or after `linesPerPiece` lines of a body, whichever comes first.
 */
export function endOfPiece(data: Buffer, isBody: boolean): number {
  let head = isBody ? -1 : data.indexOf(emptyLine)
  if (!isBody && head === -1) return data.length
  let end = isBody ? 0 : head + emptyLine.length
  for (let lines = 0; lines < linesPerPiece; lines += 1) {
    const line = data.indexOf('\r\n', end)
    if (line === -1) return data.length
    const isEmptyLine = data[line + 2] === carriageReturn && data[line + 3] === lineFeed
    if (isEmptyLine && head !== -1) return head + emptyLine.length
    if (isEmptyLine) head = line
    end = line + (isEmptyLine ? emptyLine.length : 2)
  }
  return head === -1 ? end : head + emptyLine.length
}

const carriageReturn = 13
const lineFeed = 10
