import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Fifo } from '../../core/collections/fifo.ts'
import { ConnectionLimiter } from '../../core/network/server-connection-limiter.ts'
import { socketAddressOf } from './client-address.ts'

/**
 * Maximum time of parsing in one iteration of the event loop, in ms. It is low, because Node
 * accepts only one new connection per iteration.
 */
const parseMs = 2
/**
 * While all connections together have at least this number of unanswered requests, each connection
 * may have only one. When an outage of Kafka ends, all responses are sent together. The limit
 * bounds this work.
 */
const maxUnansweredInTotal = 5_000
/**
 * Maximum number of lines of a body that are parsed together. In a chunked body, each chunk has two
 * lines: its size and its data.
 */
const linesPerPiece = 64
/**
 * If the parsing time of an iteration is over, a connection with new data must wait. A connection
 * with at most this number of bytes waits only briefly, so it does not count towards `maxWaiting`.
 */
const smallDataBytes = 16_384
/**
 * Maximum number of waiting connections, not counting those that `smallDataBytes` exempts. It
 * bounds the memory for unparsed data. Each connection holds the unparsed rest of one read (at most
 * 64 KiB) and the data that Node has read in advance. Node stops reading in advance when this data
 * exceeds the `highWaterMark` of node-server-with-limits.ts.
 */
const maxWaiting = 1_000

interface ParseState {
  /** The latest request. Its body may still be arriving. */
  current: IncomingMessage | undefined
  /** Requests whose response is not completely sent. */
  unanswered: number
  /**
   * What the connection waits for. `iteration`: the next iteration of the event loop. `answer`: the
   * end of an earlier response. `client`: Node paused the socket, because the client does not read
   * responses, or the server does not read the body.
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
 * Parses the data of connections in small pieces. Node itself parses all data of a connection in
 * one call, which can block the event loop for seconds.
 *
 * - In each iteration of the event loop, one piece of each connection is parsed: up to one request
 *   head, or up to `linesPerPiece` lines of a body.
 * - After `parseMs`, parsing stops until the next iteration.
 * - A connection with `maxUnanswered` unanswered requests waits. While all connections together
 *   have `maxUnansweredInTotal`, a connection with one unanswered request also waits.
 * - At most `maxWaiting` connections wait, not counting those that `smallDataBytes` exempts. If
 *   another one must wait, a connection of the address with the most waiting connections is closed.
 */
export function paceParsing(server: Server, maxUnanswered: number): void {
  const states = new WeakMap<Socket, ParseState>()
  const waiting = new ConnectionLimiter<Socket>(maxWaiting, maxWaiting)
  const parseTimeLimit = createParseTimeLimit()
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
      // After the last response on this connection, the server ignores further data.
      if (socket.writableEnded) return
      // Node may resume the socket while the connection still waits. The new data must then wait
      // too.
      if (state.waitsFor === 'iteration' || (state.waitsFor === 'answer' && isFull(state))) return hold(socket, data)
      stopWaiting()
      if (isFull(state)) return waitWithMuch('answer', data)
      if (parseTimeLimit.isOver())
        return data.length > smallDataBytes ? waitWithMuch('iteration', data) : wait('iteration', data)
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
      if (reason === 'iteration') parseTimeLimit.continueLater(state)
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

  // A connection is full at the maximum of `unanswered`, unless the body of its latest request must
  // still be parsed. The last piece of this body can contain the head of one more request.
  function isFull({ unanswered, current }: ParseState): boolean {
    const maxUnansweredNow = unansweredInTotal < maxUnansweredInTotal ? maxUnanswered : 1
    return unanswered > maxUnansweredNow || (unanswered === maxUnansweredNow && current?.complete !== false)
  }
}

/** Pauses the socket, and keeps its unparsed data. */
function hold(socket: Socket, data: Buffer): void {
  socket.pause()
  if (data.length > 0) socket.unshift(data)
}

/** Stops tracking a connection after CONNECT, because Node no longer parses its data. */
function stopAtConnect(server: Server, states: WeakMap<Socket, ParseState>): void {
  server.prependListener('connect', (_request: IncomingMessage, socket: Socket) => {
    const { onClose = [] } = states.get(socket) ?? {}
    states.delete(socket)
    socket.removeAllListeners('data')
    // Add Node's listener of `close` again, which Node has removed. Otherwise the responses to
    // earlier requests would emit no `close`, and `unansweredInTotal` would stay too high.
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
 * Limits the time of parsing in each iteration of the event loop to `parseMs`. The waiting
 * connections continue in later iterations, in the order in which they were added.
 */
function createParseTimeLimit() {
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
  function continueSome(maxConnections: number): void {
    if (maxConnections === 0 || performance.now() > endsAt) return
    const first = waiting.shift()
    if (first === undefined) return
    if (first.waitsFor === 'iteration') first.continue()
    // After `continue`, a `nextTick` callback parses the data of the socket. `continueSome` must
    // run after this callback, so that the check of `endsAt` includes the time of the parsing.
    process.nextTick(continueSome, maxConnections - 1)
  }
  return {
    /** Whether the time for parsing in this iteration is over. */
    isOver(): boolean {
      if (!isMeasured) begin()
      return performance.now() > endsAt
    },
    /** Lets the connection continue in a later iteration. */
    continueLater(state: ParseState): void {
      waiting.push(state)
      if (!isMeasured) begin()
    },
  }
}

const emptyLine = '\r\n\r\n'

/**
 * Returns the offset at which the first piece of `data` ends. The piece is all of `data` if `data`
 * has at most one empty line, and fewer than `linesPerPiece` lines of a body. Otherwise, the piece
 * ends after the first empty line or, without an empty line, after `linesPerPiece` lines. `isBody`
 * says whether `data` begins in a body.
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
