import { once } from 'node:events'
import { createServer } from 'node:net'
import { describe, expect, it } from '@jest/globals'
import { assertFree, freePorts, isFree } from '../../../../deploy/tools/local/free-ports.ts'

describe('a port of the loopback interface', () => {
  it('is free when no process listens on it', async () => {
    // The port is outside of the range for outgoing connections, so no other program gets it during
    // the test.
    const port = await freePorts(1)
    const server = createServer().listen(port, '127.0.0.1')
    await once(server, 'listening')
    expect(await isFree(port)).toBe(false)
    await expect(assertFree(port, 'Kafka')).rejects.toThrow(
      `Kafka cannot listen on 127.0.0.1:${port}: the port is in use; stop the process that uses it`,
    )
    server.close()
    await once(server, 'close')
    expect(await isFree(port)).toBe(true)
    await assertFree(port, 'Kafka')
  })

  it('is found together with free neighbours', async () => {
    const first = await freePorts(3)
    expect(await Promise.all([first, first + 1, first + 2].map(isFree))).toEqual([true, true, true])
  })

  it('is given only once by a process', async () => {
    const calls = 600 // enough that two of them choose the same port by chance
    const ports = new Set<number>()
    for (let call = 0; call < calls; call++) ports.add(await freePorts(1))
    expect(ports.size).toBe(calls)
  })
})
