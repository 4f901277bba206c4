import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import type { Script, Tally } from './event-tally.ts'
import { type Connections, failingPath, type Order, type SampleRequest, type Word } from './receiver-protocol.ts'

/**
 * Maximum ms without a new delivery: more than the session timeout of a crashed group member
 * (kafkajs: 30 s).
 */
const patienceMs = 45_000
const checkEveryMs = 500

/** Thrown when no new delivery arrived within the time limit. */
export class Stalled extends Error {
  override readonly name = 'Stalled'
}

export interface Receiver {
  readonly url: string
  readonly failingUrl: string
  begin(script: Script): Promise<void>
  /** Reads the CPU time of these processes at each mark, until the next `begin`. */
  watch(pids: readonly number[]): void
  /** At most a tenth of a second old. */
  delivered(): number
  /**
   * Resolves with the time, in ms since 1970, at which `count` events were delivered. `count` must
   * be one of the script's `marks`.
   * @throws Stalled
   */
  reached(count: number): Promise<number>
  /** The connections until `count` events were delivered. `count` must be a reached mark. */
  connectionsAt(count: number): Connections
  /**
   * The CPU seconds of each watched process when `count` events were delivered. `count` must be a
   * reached mark.
   */
  cpuAt(count: number): readonly number[]
  tell(): Promise<{ readonly tally: Tally; readonly sample: SampleRequest | undefined }>
  stop(): Promise<void>
}

/** The certificate of a receiver over HTTPS, and the host name in its URL. */
export interface ReceiverIdentity {
  readonly cert: string
  readonly key: string
  readonly host: string
}

/** Starts a receiver over HTTPS, or over HTTP without an identity. */
export async function startReceiver(identity?: ReceiverIdentity): Promise<Receiver> {
  const child = fork(
    new URL('receiver-process.ts', import.meta.url),
    identity === undefined ? [] : [JSON.stringify({ cert: identity.cert, key: identity.key })],
    { execArgv: [], serialization: 'advanced' },
  )
  const words = new Words(child)
  const { port } = await words.next('listening')
  const url = identity === undefined ? `http://127.0.0.1:${port}` : `https://${identity.host}:${port}`
  const order = (order: Order): void => void child.send(order)
  return {
    url: `${url}/hook`,
    failingUrl: url + failingPath,
    async begin(script) {
      order({ kind: 'begin', script })
      await words.next('begun')
    },
    watch: pids => order({ kind: 'watch', pids }),
    delivered: () => words.delivered,
    reached: async count => (await words.mark(count)).at,
    connectionsAt: count => words.markAt(count).connections,
    cpuAt: count => words.markAt(count).cpu,
    async tell() {
      order({ kind: 'tell' })
      return words.next('tally')
    },
    async stop() {
      const ended = once(child, 'exit')
      child.disconnect()
      await ended
    },
  }
}

type WordOf<Kind extends Word['kind']> = Extract<Word, { kind: Kind }>

class Words {
  delivered = 0
  readonly #child: ChildProcess
  readonly #marks = new Map<number, WordOf<'mark'>>()
  #lastProgress = 0

  constructor(child: ChildProcess) {
    this.#child = child
    child.on('message', (word: Word) => this.#take(word))
  }

  async next<Kind extends Word['kind']>(kind: Kind): Promise<WordOf<Kind>> {
    return this.#when(word => (word.kind === kind ? (word as WordOf<Kind>) : undefined))
  }

  markAt(count: number): WordOf<'mark'> {
    const mark = this.#marks.get(count)
    if (mark === undefined) throw new RangeError(`no mark of ${count} deliveries was reached`)
    return mark
  }

  async mark(count: number): Promise<WordOf<'mark'>> {
    const known = this.#marks.get(count)
    if (known !== undefined) return known
    const { promise, reject } = Promise.withResolvers<never>()
    const check = setInterval(() => {
      if (performance.now() - this.#lastProgress > patienceMs)
        reject(new Stalled(`after ${this.delivered} deliveries none has come for ${patienceMs / 1_000} s`))
    }, checkEveryMs)
    const reached = this.#when(word => (word.kind === 'mark' && word.delivered === count ? word : undefined))
    try {
      return await Promise.race([reached, promise])
    } finally {
      clearInterval(check)
    }
  }

  #take(word: Word): void {
    if (word.kind === 'begun') {
      this.delivered = 0
      this.#marks.clear()
    } else if (word.kind === 'mark' || word.kind === 'progress') {
      this.delivered = Math.max(this.delivered, word.delivered)
      if (word.kind === 'mark') this.#marks.set(word.delivered, word)
    } else return
    this.#lastProgress = performance.now()
  }

  /** Resolves with the first value that `read` finds. Rejects when the process ends. */
  #when<T>(read: (word: Word) => T | undefined): Promise<T> {
    return new Promise((resolve, reject) => {
      const onMessage = (word: Word): void => {
        const found = read(word)
        if (found === undefined) return
        this.#child.off('message', onMessage)
        this.#child.off('exit', onExit)
        resolve(found)
      }
      const onExit = (code: number | null): void => reject(new Error(`the receiver exited with ${code}`))
      this.#child.on('message', onMessage)
      this.#child.on('exit', onExit)
    })
  }
}
