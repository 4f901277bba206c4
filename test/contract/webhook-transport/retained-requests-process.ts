/**
 * Prints how many of 50 ended requests a kept connection still holds in memory. Needs
 * `--expose-gc`.
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
// `gc` runs in a later iteration of the event loop, because a weak reference keeps its target until
// the end of the current iteration.
for (let turn = 0; turn < 3; turn++) await setImmediate()
;(globalThis as unknown as { gc(): void }).gc()
process.stdout.write(String(bodies.filter(body => body.deref() !== undefined).length))
await transport.close()
