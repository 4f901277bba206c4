/**
 * Prints how many of 50 ended requests are still in memory because a kept connection refers to
 * them. The process needs `--expose-gc`. Its arguments are the adapter and a URL.
 */
import { setImmediate } from 'node:timers/promises'
import { transportByName } from './transport-by-name.ts'

const [, , name, url = ''] = process.argv
const transport = await transportByName(name, 10_000)
const bodies: WeakRef<Buffer>[] = []

function post(): Promise<unknown> {
  const body = Buffer.from('{}')
  bodies.push(new WeakRef(body))
  return new Promise(resolve => transport.post({ url, headers: {}, body }, resolve))
}

await Promise.all(Array.from({ length: 50 }, post))
// A weak reference keeps its target until the end of the current iteration of the event loop.
for (let turn = 0; turn < 3; turn++) await setImmediate()
;(globalThis as unknown as { gc(): void }).gc()
process.stdout.write(String(bodies.filter(body => body.deref() !== undefined).length))
await transport.close()
