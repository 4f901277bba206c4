import type { Installation } from './installation.ts'
import { seconds, until } from './scenario-steps.ts'

export interface PodCounts {
  /** Waits until `count` pods are ready. Resolves with the duration of the wait in ms. */
  reach(count: number): Promise<number>
  /** Each change of the number, with the time since `followPods`, as text. */
  text(): string
}

const patienceMs = 240_000
/** Time between two counts, in ms. It is long, because a call of kubectl uses much CPU. */
const everyMs = 1_000

export function followPods(on: Pick<Installation, 'pods'>, service: string): PodCounts {
  const begun = performance.now()
  const changes: { readonly count: number; readonly at: number }[] = []
  const count = async (): Promise<number> => {
    const found = (await on.pods()).filter(pod => pod.service === service && pod.isReady).length
    if (found !== changes.at(-1)?.count) changes.push({ count: found, at: performance.now() - begun })
    return found
  }
  return {
    reach: wanted =>
      until(`${service} has ${wanted} ready pods`, async () => (await count()) === wanted, patienceMs, everyMs).catch(
        (error: Error) => {
          throw new Error(`${error.message} (${textOf(changes)})`, { cause: error })
        },
      ),
    text: () => textOf(changes),
  }
}

const textOf = (changes: readonly { readonly count: number; readonly at: number }[]): string =>
  changes.map(({ count, at }) => `${count} after ${seconds(at)}`).join(', ')
