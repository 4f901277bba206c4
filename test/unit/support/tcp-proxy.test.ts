import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it } from '@jest/globals'
import { closingAfterEach } from '../../support/cleanup.ts'
import { startTcpProxy, type TcpProxy } from '../../support/network/tcp-proxy.ts'

const closing = closingAfterEach()

/**
 * Starts an echo server behind the proxy. `heard` is called with the bytes that reach the server.
 */
async function echoBehindProxy(heard: (bytes: Buffer) => void = () => {}): Promise<TcpProxy> {
  const open = new Set<Socket>()
  const server = createServer(socket => {
    open.add(socket)
    socket.on('error', () => {})
    socket.on('data', heard)
    socket.pipe(socket)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  closing({
    close: async () => {
      for (const socket of open) socket.destroy()
      server.close()
    },
  })
  return closing(await startTcpProxy((server.address() as AddressInfo).port))
}

async function client({ port }: TcpProxy): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1' })
  socket.on('error', () => {})
  closing({ close: async () => socket.destroy() })
  await once(socket, 'connect')
  return socket
}

/** Sends a text. Resolves with the echoed text and the time until it arrived, in ms. */
async function echo(socket: Socket, text: string): Promise<{ readonly text: string; readonly ms: number }> {
  const start = performance.now()
  socket.write(text)
  let received = ''
  while (received.length < text.length) received += String((await once(socket, 'data'))[0])
  return { text: received, ms: performance.now() - start }
}

/**
 * Resolves after 200 ms. If the process stops during this time, its timers run before it reads
 * sockets. So this also waits for the next iteration, until the proxy has read what was sent.
 */
async function silence(): Promise<string> {
  await delay(200)
  await nextTurn()
  return 'silence'
}

const ending = (socket: Socket): Promise<string> =>
  new Promise(resolve => {
    socket.once('error', error => resolve((error as NodeJS.ErrnoException).code ?? ''))
    socket.once('close', () => resolve('closed'))
  })

describe('a TCP proxy', () => {
  it('open: passes bytes in both directions and counts connections', async () => {
    const proxy = await echoBehindProxy()
    const socket = await client(proxy)
    expect((await echo(socket, 'hello')).text).toBe('hello')
    expect(proxy.connections()).toBe(1)
    const gone = ending(socket)
    socket.end()
    expect(await gone).toBe('closed')
  })

  it('delayed: adds the delay once each way, and keeps the order when the link recovers', async () => {
    const proxy = await echoBehindProxy()
    const socket = await client(proxy)
    proxy.set({ kind: 'delayed', ms: 100 })
    expect((await echo(socket, 'hello')).ms).toBeGreaterThanOrEqual(198)
    const both = echo(socket, 'first second')
    proxy.set({ kind: 'open' })
    expect((await both).text).toBe('first second')
  })

  it('slow: passes no more bytes per second than its limit', async () => {
    const proxy = await echoBehindProxy()
    const socket = await client(proxy)
    proxy.set({ kind: 'slow', bytesPerSecond: 20_000 })
    const { text, ms } = await echo(socket, 'x'.repeat(4_000))
    expect(text).toHaveLength(4_000)
    expect(ms).toBeGreaterThanOrEqual(390)
  })

  it('reset: resets open connections, and new ones at their first bytes', async () => {
    const proxy = await echoBehindProxy()
    const open = await client(proxy)
    // After the echo, the proxy has accepted the connection.
    await echo(open, 'hello')
    const before = ending(open)
    proxy.set({ kind: 'reset' })
    expect(await before).toBe('ECONNRESET')
    const socket = await client(proxy)
    const after = ending(socket)
    socket.write('hello')
    expect(await after).toBe('ECONNRESET')
  })

  it('cut: rejects all connections; after the recovery, new ones succeed', async () => {
    const proxy = await echoBehindProxy()
    const before = ending(await client(proxy))
    proxy.set({ kind: 'cut' })
    await before
    expect(await ending(await client(proxy))).toMatch(/closed|ECONNRESET/)
    proxy.set({ kind: 'open' })
    expect((await echo(await client(proxy), 'hello')).text).toBe('hello')
  })

  it('half-open: connections stay without bytes; after the recovery, those that lost bytes are reset', async () => {
    const proxy = await echoBehindProxy()
    const [used, idle] = [await client(proxy), await client(proxy)]
    await echo(idle, 'hello')
    proxy.set({ kind: 'half-open' })
    const usedEnds = ending(used)
    used.write('into the void')
    expect(await Promise.race([usedEnds, once(used, 'data'), silence()])).toBe('silence')
    expect(proxy.connections()).toBe(2)
    proxy.set({ kind: 'open' })
    expect(await usedEnds).toBe('ECONNRESET')
    expect((await echo(idle, 'still here')).text).toBe('still here')
  })

  it('held: passes nothing and later everything, even from a side that closed', async () => {
    const heard = Promise.withResolvers<string>()
    const proxy = await echoBehindProxy(bytes => heard.resolve(String(bytes)))
    const socket = await client(proxy)
    proxy.set({ kind: 'held' })
    socket.write('late')
    expect(await Promise.race([heard.promise, silence()])).toBe('silence')
    socket.destroy()
    await once(socket, 'close')
    proxy.set({ kind: 'open' })
    expect(await heard.promise).toBe('late')
  })

  it('answers-lost: passes requests but no response; after the recovery, affected connections are reset', async () => {
    const requests = Promise.withResolvers<string>()
    const proxy = await echoBehindProxy(bytes => requests.resolve(String(bytes)))
    const socket = await client(proxy)
    const ends = ending(socket)
    proxy.set({ kind: 'answers-lost' })
    socket.write('hello')
    expect(await requests.promise).toBe('hello')
    expect(await Promise.race([ends, once(socket, 'data'), silence()])).toBe('silence')
    proxy.set({ kind: 'open' })
    expect(await ends).toBe('ECONNRESET')
  })

  it('answers-late: adds the delay once', async () => {
    const proxy = await echoBehindProxy()
    const socket = await client(proxy)
    proxy.set({ kind: 'answers-late', ms: 100 })
    const { ms } = await echo(socket, 'hello')
    expect(ms).toBeGreaterThanOrEqual(99)
  })

  it('answers-torn: resets each connection after this number of response bytes', async () => {
    const proxy = await echoBehindProxy()
    const socket = await client(proxy)
    proxy.set({ kind: 'answers-torn', bytes: 10 })
    for (const each of [socket, await client(proxy)]) {
      expect((await echo(each, 'ten bytes.')).text).toBe('ten bytes.')
      const ends = ending(each)
      each.write('!')
      expect(await ends).toBe('ECONNRESET')
    }
  })
})
