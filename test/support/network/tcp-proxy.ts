import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { Transform, type TransformCallback } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'

/**
 * How the proxy treats its connections.
 * - `open`: forwards everything.
 * - `cut`: closes all connections.
 * - `reset`: resets open connections, and each new one when its first bytes arrive.
 * - `half-open`: keeps all connections open and forwards nothing.
 * - `delayed`: forwards every chunk `ms` later.
 * - `held`: forwards nothing until the state changes, and then everything.
 * - `slow`: limits the bytes per second in each direction of a connection.
 * - `answers-lost`, `answers-late`: drops or delays responses.
 * - `answers-torn`: resets the connection in the middle of a response.
 */
export type LinkState =
  | { readonly kind: 'open' | 'cut' | 'reset' | 'half-open' | 'held' | 'answers-lost' }
  | { readonly kind: 'delayed' | 'answers-late'; readonly ms: number }
  | { readonly kind: 'slow'; readonly bytesPerSecond: number }
  | { readonly kind: 'answers-torn'; readonly bytes: number }

type Fate =
  | { readonly kind: 'pass' | 'swallow' | 'hold' }
  | { readonly kind: 'delay'; readonly ms: number }
  | { readonly kind: 'throttle'; readonly bytesPerSecond: number }

export interface TcpProxy {
  readonly port: number
  /**
   * Sets the state of all connections. A connection that has lost bytes is reset when the new state
   * forwards bytes.
   */
  set(state: LinkState): void
  connections(): number
  close(): Promise<void>
}

interface Connection {
  readonly client: Socket
  readonly server: Socket
  swallowed: boolean
  /** Number of response bytes since the state was set. */
  answered: number
}

/**
 * Starts a proxy between a client and a server on 127.0.0.1. With `listen` 0, it uses a free port.
 */
export async function startTcpProxy(target: number, listen = 0): Promise<TcpProxy> {
  const connections = new Set<Connection>()
  let state: LinkState = { kind: 'open' }
  let changed = Promise.withResolvers<void>()

  function resetAll(which: (connection: Connection) => boolean = () => true): void {
    for (const connection of connections) {
      if (!which(connection)) continue
      connection.client.resetAndDestroy()
      connection.server.resetAndDestroy()
    }
  }

  const accept = (client: Socket): void => {
    if (state.kind === 'cut') return void client.destroy()
    const server = connect({ port: target, host: '127.0.0.1' })
    const connection: Connection = { client, server, swallowed: false, answered: 0 }
    connections.add(connection)
    const fateOf = (isAnswer: boolean, bytes: number): Fate => {
      if (isAnswer) connection.answered += bytes
      const isTorn = state.kind === 'answers-torn' && connection.answered > state.bytes
      if (state.kind === 'reset' || isTorn) resetAll(each => each === connection)
      const fate = fateIn(state, isAnswer)
      if (fate.kind === 'swallow') connection.swallowed = true
      return fate
    }
    const untilChanged = (): Promise<void> => changed.promise
    const toServer = spoilt(bytes => fateOf(false, bytes), untilChanged)
    const toClient = spoilt(bytes => fateOf(true, bytes), untilChanged)
    client.pipe(toServer).pipe(server)
    server.pipe(toClient).pipe(client)
    for (const [socket, other, sent] of [
      [client, server, toServer],
      [server, client, toClient],
    ] as const) {
      socket.setNoDelay(true)
      socket.on('error', () => {})
      // With `held`, a side is closed only after the held bytes are forwarded. With `half-open`,
      // the other side stays open.
      socket.on('close', () => {
        if (state.kind === 'held') sent.end()
        else if (state.kind !== 'half-open') other.destroy()
        if (client.destroyed && server.destroyed) connections.delete(connection)
        else if (state.kind !== 'held') connection.swallowed = true
      })
    }
  }

  const server = createServer(accept)
  const open = async (port: number): Promise<void> => void (await once(server.listen(port, '127.0.0.1'), 'listening'))
  await open(listen)
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : listen
  return {
    port,
    set(next) {
      state = next
      changed.resolve()
      changed = Promise.withResolvers()
      for (const connection of connections) connection.answered = 0
      if (next.kind === 'cut' || next.kind === 'reset') resetAll()
      else if (next.kind !== 'half-open' && next.kind !== 'answers-lost') resetAll(({ swallowed }) => swallowed)
    },
    connections: () => [...connections].filter(({ client }) => !client.destroyed).length,
    async close() {
      const closed = once(server, 'close')
      server.close()
      resetAll()
      await closed
    },
  }
}

function fateIn(state: LinkState, isAnswer: boolean): Fate {
  switch (state.kind) {
    case 'open':
    case 'answers-torn':
      return { kind: 'pass' }
    case 'held':
      return { kind: 'hold' }
    case 'delayed':
      return { kind: 'delay', ms: state.ms }
    case 'answers-late':
      return isAnswer ? { kind: 'delay', ms: state.ms } : { kind: 'pass' }
    case 'slow':
      return { kind: 'throttle', bytesPerSecond: state.bytesPerSecond }
    case 'answers-lost':
      return { kind: isAnswer ? 'swallow' : 'pass' }
    case 'cut':
    case 'reset':
    case 'half-open':
      return { kind: 'swallow' }
  }
}

/**
 * Creates the stream for one direction of a connection. A slow link blocks the sender; a delay does
 * not.
 */
function spoilt(fateOf: (bytes: number) => Fate, untilChanged: () => Promise<void>): Transform {
  /**
   * Resolves when all earlier bytes are forwarded. To keep the order, later bytes are never
   * forwarded before that, even after a change of the `LinkState`.
   */
  let through: Promise<void> = Promise.resolve()

  function pass(chunk: Buffer, push: () => void): Promise<void> {
    const fate = fateOf(chunk.length)
    const before = through
    const after = async (due: Promise<void>): Promise<void> => {
      await before
      await due
      push()
    }
    switch (fate.kind) {
      case 'pass':
        through = after(Promise.resolve())
        return through
      case 'delay':
        through = after(delay(fate.ms))
        return Promise.resolve()
      case 'hold':
        through = after(untilChanged())
        return Promise.resolve()
      case 'throttle':
        through = before.then(() => delay((chunk.length / fate.bytesPerSecond) * 1_000)).then(push)
        return through
      case 'swallow':
        return Promise.resolve()
    }
  }
  return new Transform({
    transform(chunk: Buffer, _encoding, done: TransformCallback) {
      // The connection may be closed before the chunk is due.
      pass(chunk, () => void (this.destroyed || this.push(chunk))).then(() => done(), done)
    },
    // A state that drops bytes also drops the FIN.
    flush(done) {
      if (fateOf(0).kind !== 'swallow') through.then(() => done(), done)
    },
  })
}
