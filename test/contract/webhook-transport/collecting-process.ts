/**
 * A process of its own with `--expose-gc`: what calls leave in the old space, where it stays until that is collected itself.
 * Arguments: the adapter, a URL. Prints the bytes of a call.
 */
import v8 from 'node:v8'
import { median } from '../../tools/bench/statistics.ts'
import { transportByName } from './transport-by-name.ts'

const [, , name, url = ''] = process.argv
const transport = await transportByName(name, 10_000)
const collectYoung = (): unknown => (globalThis as unknown as { gc(of: object): void }).gc({ type: 'minor' })
const callsInRound = 100
/** What is compiled and connected for good is so after these. */
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
  // What is alive the second time is old.
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
