import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** Below what Linux and macOS hand out to outgoing connections, so that a port stays free across a restart. */
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

/** The first of `count` neighbouring ports that nobody listens on. */
export async function freePorts(count: number): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const first = randomInt(lowest, highest - count)
    const free = await Promise.all(Array.from({ length: count }, (_, index) => isFree(first + index)))
    if (free.every(Boolean)) return first
  }
  throw new Error(`no ${count} neighbouring free ports between ${lowest} and ${highest}`)
}

/** @throws when somebody listens on 127.0.0.1:`port`, which was meant for `what`. */
export async function assertFree(port: number, what: string): Promise<void> {
  if (!(await isFree(port))) throw new Error(`${what} cannot listen on 127.0.0.1:${port}: the port is in use`)
}
