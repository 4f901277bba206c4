import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * The range from which `freePorts` chooses. It is below the ephemeral ports of Linux and macOS, so
 * the operating system does not give the port of a restarting server to another program.
 */
const lowest = 15_000
const highest = 32_000

/** Whether a server can listen on 127.0.0.1:`port` now. */
export async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen({ port, host: '127.0.0.1', exclusive: true })
  try {
    await once(server, 'listening')
  } catch {
    return false
  }
  server.close()
  await once(server, 'close')
  return true
}

/** Ports that `freePorts` has returned. They look free until their users listen on them. */
const given = new Set<number>()

/** The first of `count` consecutive free ports. A process never gets the same port twice. */
export async function freePorts(count: number): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const first = randomInt(lowest, highest - count)
    const ports = Array.from({ length: count }, (_, index) => first + index)
    const free = await Promise.all(ports.map(isFree))
    // Checked only now: during `isFree`, a concurrent call may have returned the same ports.
    if (!free.every(Boolean) || ports.some(port => given.has(port))) continue
    for (const port of ports) given.add(port)
    return first
  }
  throw new Error(`no ${count} consecutive free ports between ${lowest} and ${highest}`)
}

/** `what` is the server that needs the port. @throws Error when the port is in use */
export async function assertFree(port: number, what: string): Promise<void> {
  if (await isFree(port)) return
  throw new Error(`${what} cannot listen on 127.0.0.1:${port}: the port is in use; stop the process that uses it`)
}
