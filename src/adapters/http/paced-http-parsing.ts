import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Fifo } from '../../core/collections/fifo.ts'
import { ConnectionLimiter } from '../../core/network/connection-limiter.ts'
import { socketAddressOf } from './client-address.ts'

/**
 * Maximum time for which data is parsed in one iteration of the event loop, in ms. Further data
 * waits for the next iteration. The time is short, because Node accepts only one new connection in
 * an iteration: with 25 ms, 20 busy connections made new connections wait for up to 11 s.
 */
const parseMs = 2
/**
 * Maximum number of requests without a response on all connections of a server together. Above this
 * maximum, a connection with an unanswered request parses no further requests. At the end of an
 * outage of Kafka, the responses to all unanswered requests are sent at about the same time. The
 * maximum bounds this work.
 */
const maxUnansweredInTotal = 5_000
/** Maximum number of lines of a body that are parsed together. A chunk of a body has two lines. */
const linesPerPiece = 64
/**
 * Maximum bytes of small data. When the time `parseMs` of an iteration is over, data that arrives
 * waits for the next iteration of the event loop. If this data is small, its connection does not
 * count towards `maxWaiting`: it waits only briefly, so it must not cause the close of a
 * connection.
 */
const smallData = 16_384
/**
 * Maximum number of connections of a server that wait, without those that `smallData` exempts. The
 * maximum bounds the memory: with the `highWaterMark` of node-server.ts, each connection holds up
 * to 80 KiB of data that has arrived, or that Node has read in advance.
 */
const maxWaiting = 1_000

/** The state of one connection: its parsed requests, and what its unparsed data waits for. */
interface ParseState {
  /** The latest request. Its body may still be arriving. */
  current: IncomingMessage | undefined
  /** Number of requests whose response is not completely sent. */
  unanswered: number
  /**
   * What the connection waits for. `iteration`: the next iteration of the event loop. `answer`: a
   * response to an earlier request. `client`: Node has paused the socket, because the client
   * does not read a response, or the server does not read a body. `undefined`: it does not wait.
   */
  waitsFor: 'iteration' | 'answer' | 'client' | undefined
  continue(): void
  /**
   * The listeners of `close` that the socket had when the connection opened, among them Node's own.
   * After CONNECT, Node removes its listener, and `stopAtConnect` adds it again.
   */
  readonly onClose: ReturnType<Socket['rawListeners']>
}

/**
 * Parses the data of a server's connections in small pieces. Without this, Node parses all data
 * that has arrived on a connection in one call: 64 KiB with thousands of pipelined requests, or
 * with a body in thousands of chunks. Some hundred connections of this kind would block the event
 * loop for seconds, and fill the heap.
 *
 * - In each iteration of the event loop, one piece of each connection is parsed: up to one request
 *   head, or up to `linesPerPiece` lines of a body. The rest waits.
 * - When the time `parseMs` of an iteration is over, parsing stops until the next iteration. Data
 *   that arrives until then waits behind the data that already waits.
 * - While a connection has `maxUnanswered` requests without a response, its further requests wait.
 *   While all connections together have `maxUnansweredInTotal`, each connection may have only one
 *   request without a response.
 * - At most `maxWaiting` connections wait, not counting those that `smallData` exempts. If one more
 *   must wait, a connection of the client address with the most waiting connections is closed.
 */
export function paceParsing(server: Server, maxUnanswered: number): void {
  const states = new WeakMap<Socket, ParseState>()
  const waiting = new ConnectionLimiter<Socket>(maxWaiting, maxWaiting)
  const iterations = createIterations()
  let unansweredInTotal = 0
  stopAtConnect(server, states)

  server.on('connection', (socket: Socket) => {
    // `parse` is Node's own listener of `data`. Node's listener of `connection` has added it before
    // this listener of `connection` is called.
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
      // The server has sent its last response on this connection, so further data is ignored.
      if (socket.writableEnded) return
      // Node may resume the socket while the connection still waits for an iteration or a response.
      // The data that then arrives must also wait.
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

  // Whether the connection must wait before more of its data is parsed. A connection with the
  // maximum number of unanswered requests must wait, unless the body of its latest request is
  // incomplete: the rest of this body must be parsed. The piece with the end of the body may also
  // have the head of the next request, so `unanswered` can become one more than the maximum.
  function isFull({ unanswered, current }: ParseState): boolean {
    const most = unansweredInTotal < maxUnansweredInTotal ? maxUnanswered : 1
    return unanswered > most || (unanswered === most && current?.complete !== false)
  }
}

/** Pauses the socket, and keeps data that is not parsed yet. */
function hold(socket: Socket, data: Buffer): void {
  socket.pause()
  if (data.length > 0) socket.unshift(data)
}

/** Ends the paced parsing of a connection after CONNECT: Node then no longer parses its data. */
function stopAtConnect(server: Server, states: WeakMap<Socket, ParseState>): void {
  server.prependListener('connect', (_request: IncomingMessage, socket: Socket) => {
    const { onClose = [] } = states.get(socket) ?? {}
    states.delete(socket)
    socket.removeAllListeners('data')
    // Node has removed its listener of `close`. Without this listener, the responses to earlier
    // requests of the connection would emit no `close`, and `unansweredInTotal` would stay too
    // high.
    const present = socket.rawListeners('close')
    for (const listener of onClose) if (!present.includes(listener)) socket.on('close', listener as () => void)
    // Node has removed its listener of `error`. Without a listener, an error of this connection,
    // for example a reset by the client, would end the process.
    socket.on('error', () => {})
    // Node closes a connection with CONNECT only when no listener of `connect` exists. If this is
    // the only listener, it must close the connection itself.
    if (server.listenerCount('connect') === 1) socket.destroy()
  })
}

/**
 * Measures the iterations of the event loop. In each iteration, the waiting connections continue,
 * in the order in which they began to wait.
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
    // `continue` resumes the socket, and a `nextTick` callback then parses the data of the socket.
    // `continueSome` must be called in a later callback, so that its check of `endsAt` includes the
    // time of this parsing.
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
 * Returns the offset at which the first piece of the data ends. `isBody` is true if the data begins
 * in a body. An empty line normally ends a head.
 * - The data is one piece if it has at most one empty line, and fewer than `linesPerPiece` lines of
 *   a body. The data of most clients is one piece.
 * - Other data has several pieces. The first one ends at the first empty line, or after
 *   `linesPerPiece` lines of a body, whichever comes first.
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
