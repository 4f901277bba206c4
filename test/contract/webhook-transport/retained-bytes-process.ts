/**
 * Prints how many bytes each request leaves in V8's old generation. Needs `--expose-gc`. The
 * arguments are the adapter and a URL.
 */
import v8 from 'node:v8'
import { median } from '../../tools/bench/statistics.ts'
import { transportByName } from './transport-by-name.ts'

const [, , name, url = ''] = process.argv
const transport = await transportByName(name, 10_000)
const collectYoung = (): unknown => (globalThis as unknown as { gc(of: object): void }).gc({ type: 'minor' })
const callsInRound = 100
/**
 * Number of rounds before the measurement. In these rounds, V8 compiles the code and the transport
 * opens its connections.
 */
const firstRounds = 5
const rounds = 15

const post = (): Promise<unknown> =>
  new Promise(resolve => transport.post({ url, headers: {}, body: Buffer.from('{}') }, resolve))

async function bytesOfCall(): Promise<number> {
  const before = oldBytes()
  for (let left = callsInRound; left > 0; left -= 10) {
    await Promise.all(Array.from({ length: 10 }, post))
    collectYoung()
  }
  // V8 moves objects that survive two collections to the old generation.
  collectYoung()
  collectYoung()
  return (oldBytes() - before) / callsInRound
}

function oldBytes(): number {
  return v8.getHeapSpaceStatistics().find(space => space.space_name === 'old_space')?.space_used_size ?? Number.NaN
}

for (let round = 0; round < firstRounds; round++) await bytesOfCall()
const left: number[] = []
for (let round = 0; round < rounds; round++) left.push(await bytesOfCall())
await transport.close()
process.stdout.write(String(median(left)))
