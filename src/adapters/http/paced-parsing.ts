import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Fifo } from '../../core/collections/fifo.ts'
import { ConnectionLimiter } from '../../core/network/connection-limiter.ts'
import { socketAddressOf } from './client-address.ts'

/**
 * Maximum time for which data is parsed in one iteration of the event loop, in ms. Further data
 * waits for the next iteration. The time is short, because Node accepts only one new connection in
 * an iteration.
 */
const parseMs = 2
/**
 * Above this number of requests without a response, a connection that has one waits with its
 * further requests. Responses to all requests may be sent at the same time, when Kafka accepts
 * messages again.
 */
const maxUnansweredInTotal = 5_000
/** Maximum number of lines of a body in one piece. Each chunk of a chunked body has two. */
const linesPerPiece = 64
/** Maximum bytes with which any number of connections may wait for the next iteration. */
const smallData = 16_384
/**
 * Maximum number of other waiting connections. With the `highWaterMark` of node-server.ts, each
 * holds up to 80 KiB: the data that arrived, and data that Node has read in advance.
 */
const maxWaiting = 1_000

/** How far the data of one connection is parsed. */
interface ParseState {
  /** The latest request. Its body may still be arriving. */
  current: IncomingMessage | undefined
  /** Number of requests whose response is not completely sent. */
  unanswered: number
  /**
   * What the connection waits for. `iteration`: the next iteration of the event loop. `answer`: a
   * response to an earlier request. `client`: Node has paused the socket, because a response or a
   * body is not being read. `undefined`: it does not wait.
   */
  waitsFor: 'iteration' | 'answer' | 'client' | undefined
  continue(): void
}

/**
 * Parses the data of a server's connections in small pieces. Without this, Node parses all data
 * that has arrived on a connection in one call: 64 KiB with thousands of pipelined requests, or
 * with a body in thousands of chunks. Some hundred connections of this kind would block the event
 * loop for seconds, and fill the heap.
 *
 * - In each iteration, one piece of each connection is parsed: up to one request head, or up to
 *   `linesPerPiece` lines of a body. The rest waits.
 * - After `parseMs`, data that arrives waits for the next iteration too, behind all that waits.
 * - While a connection has `maxUnanswered` requests without a response, its further requests wait.
 *   When all connections have many together, each connection may have only one.
 * - At most `maxWaiting` connections wait with the rest of their data, or with much data. For one
 *   more, a connection of the client address with the most of them is closed.
 */
export function paceParsing(server: Server, maxUnanswered: number): void {
  const states = new WeakMap<Socket, ParseState>()
  const waiting = new ConnectionLimiter<Socket>(maxWaiting, maxWaiting)
  const iterations = createIterations()
  let unansweredInTotal = 0
  stopAtConnect(server, states)

  server.on('connection', (socket: Socket) => {
    // Node's own listener of `connection` is called first. It has added this listener of `data`.
    const [parse] = socket.listeners('data') as [((piece: Buffer) => void) | undefined]
    if (parse === undefined) return
    socket.off('data', parse)
    const address = socketAddressOf(socket)
    const state: ParseState = { current: undefined, unanswered: 0, waitsFor: undefined, continue: proceed }
    states.set(socket, state)

    function onData(data: Buffer): void {
      // The server has sent its last response.
      if (socket.writableEnded) return
      // Node resumes a connection also while it waits for an iteration or an answer.
      if (state.waitsFor === 'iteration' || (state.waitsFor === 'answer' && isFull(state))) return hold(data)
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
      hold(data)
    }
    function hold(data: Buffer): void {
      socket.pause()
      if (data.length > 0) socket.unshift(data)
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

  // A piece can have the end of one body and the next head, so one more request than the maximum
  // may have begun.
  function isFull({ unanswered, current }: ParseState): boolean {
    const most = unansweredInTotal < maxUnansweredInTotal ? maxUnanswered : 1
    return unanswered > most || (unanswered === most && current?.complete !== false)
  }
}

/** Stops the parsing after CONNECT, because Node then no longer parses the connection. */
function stopAtConnect(server: Server, states: WeakMap<Socket, ParseState>): void {
  server.prependListener('connect', (_request: IncomingMessage, socket: Socket) => {
    states.delete(socket)
    socket.removeAllListeners('data')
    // Node closes the connection only when no listener exists.
    if (server.listenerCount('connect') === 1) socket.destroy()
  })
}

/**
 * Measures the iterations of the event loop. In each one, connections that wait continue, in the
 * order in which they began to wait.
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
    // The data of the connection is parsed first, because its socket resumes with `nextTick` too.
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
 * The end of the first piece of the data. Data with at most one empty line (the end of a head) and
 * fewer than `linesPerPiece` lines of a body is one piece, as most clients send it. Other data is
 * parsed up to its first empty line, or up to the maximum number of lines. `isBody` is true if the
 * data begins in a body.
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
