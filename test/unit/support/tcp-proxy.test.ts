import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it } from '@jest/globals'
import { closingAfterEach } from '../../support/cleanup.ts'
import { startTcpProxy, type TcpProxy } from '../../support/network/tcp-proxy.ts'

const closing = closingAfterEach()

/** A server that sends back what it gets, and the proxy before it. `heard` is told what it gets. */
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

/** What comes back, and after how many milliseconds. */
async function echo(socket: Socket, text: string): Promise<{ readonly text: string; readonly ms: number }> {
  const start = performance.now()
  socket.write(text)
  let received = ''
  while (received.length < text.length) received += String((await once(socket, 'data'))[0])
  return { text: received, ms: performance.now() - start }
}

const ending = (socket: Socket): Promise<string> =>
  new Promise(resolve => {
    socket.once('error', error => resolve((error as NodeJS.ErrnoException).code ?? ''))
    socket.once('close', () => resolve('closed'))
  })

describe('a TCP proxy', () => {
  it('open: hands over bytes in both directions and counts connections', async () => {
    const proxy = await echoBehindProxy()
    const socket = await client(proxy)
    expect((await echo(socket, 'hello')).text).toBe('hello')
    expect(proxy.connections()).toBe(1)
    const gone = ending(socket)
    socket.end()
    expect(await gone).toBe('closed')
  })

  it('delayed: later by the delay, once each way, and in order when the link gets better', async () => {
    const proxy = await echoBehindProxy()
    const socket = await client(proxy)
    proxy.set({ kind: 'delayed', ms: 100 })
    expect((await echo(socket, 'hello')).ms).toBeGreaterThanOrEqual(198)
    const both = echo(socket, 'first second')
    proxy.set({ kind: 'open' })
    expect((await both).text).toBe('first second')
  })

  it('slow: no more bytes a second than said', async () => {
    const proxy = await echoBehindProxy()
    const socket = await client(proxy)
    proxy.set({ kind: 'slow', bytesPerSecond: 20_000 })
    const { text, ms } = await echo(socket, 'x'.repeat(4_000))
    expect(text).toHaveLength(4_000)
    expect(ms).toBeGreaterThanOrEqual(390)
  })

  it('reset: open connections, and new ones with their first bytes', async () => {
    const proxy = await echoBehindProxy()
    const before = ending(await client(proxy))
    proxy.set({ kind: 'reset' })
    expect(await before).toBe('ECONNRESET')
    const socket = await client(proxy)
    const after = ending(socket)
    socket.write('hello')
    expect(await after).toBe('ECONNRESET')
  })

  it('cut: nobody gets through; mended, new connections do', async () => {
    const proxy = await echoBehindProxy()
    const before = ending(await client(proxy))
    proxy.set({ kind: 'cut' })
    await before
    expect(await ending(await client(proxy))).toMatch(/closed|ECONNRESET/)
    proxy.set({ kind: 'open' })
    expect((await echo(await client(proxy), 'hello')).text).toBe('hello')
  })

  it('half-open: connections stay and nothing comes; mended, what lost bytes is reset and what did not goes on', async () => {
    const proxy = await echoBehindProxy()
    const [used, idle] = [await client(proxy), await client(proxy)]
    await echo(idle, 'hello')
    proxy.set({ kind: 'half-open' })
    const usedEnds = ending(used)
    used.write('into the void')
    expect(await Promise.race([usedEnds, once(used, 'data'), delay(200, 'silence')])).toBe('silence')
    expect(proxy.connections()).toBe(2)
    proxy.set({ kind: 'open' })
    expect(await usedEnds).toBe('ECONNRESET')
    expect((await echo(idle, 'still here')).text).toBe('still here')
  })

  it('held: nothing gets through, then all of it does, also what a side sent before it closed', async () => {
    const heard = Promise.withResolvers<string>()
    const proxy = await echoBehindProxy(bytes => heard.resolve(String(bytes)))
    const socket = await client(proxy)
    proxy.set({ kind: 'held' })
    socket.write('late')
    expect(await Promise.race([heard.promise, delay(200, 'silence')])).toBe('silence')
    socket.destroy()
    await once(socket, 'close')
    proxy.set({ kind: 'open' })
    expect(await heard.promise).toBe('late')
  })

  it('answers-lost: requests get through, no answer comes, and what lost one is reset when it is mended', async () => {
    const requests = Promise.withResolvers<string>()
    const proxy = await echoBehindProxy(bytes => requests.resolve(String(bytes)))
    const socket = await client(proxy)
    const ends = ending(socket)
    proxy.set({ kind: 'answers-lost' })
    socket.write('hello')
    expect(await requests.promise).toBe('hello')
    expect(await Promise.race([ends, once(socket, 'data'), delay(200, 'silence')])).toBe('silence')
    proxy.set({ kind: 'open' })
    expect(await ends).toBe('ECONNRESET')
  })

  it('answers-late: the delay comes once', async () => {
    const proxy = await echoBehindProxy()
    const socket = await client(proxy)
    proxy.set({ kind: 'answers-late', ms: 100 })
    const { ms } = await echo(socket, 'hello')
    expect(ms).toBeGreaterThanOrEqual(99)
  })

  it('answers-torn: a connection breaks when so many bytes of answers have come, each new one again', async () => {
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
