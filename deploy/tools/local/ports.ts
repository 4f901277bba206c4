import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * The range from which free ports are chosen. It is below the ephemeral ports of Linux and macOS,
 * so the operating system does not give a port to another program during a restart.
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

/** The first of `count` consecutive free ports. */
export async function freePorts(count: number): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const first = randomInt(lowest, highest - count)
    const free = await Promise.all(Array.from({ length: count }, (_, index) => isFree(first + index)))
    if (free.every(Boolean)) return first
  }
  throw new Error(`no ${count} consecutive free ports between ${lowest} and ${highest}`)
}

/**
 * Checks that a port on 127.0.0.1 is free. `what` is the server that needs it.
 * @throws when the port is in use
 */
export async function assertFree(port: number, what: string): Promise<void> {
  if (await isFree(port)) return
  throw new Error(`${what} cannot listen on 127.0.0.1:${port}: the port is in use; stop the process that uses it`)
}
