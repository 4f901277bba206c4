import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import type { Script, Tally } from './ledger.ts'
import { mortalPath, type Order, type SampleRequest, type Word } from './protocol.ts'

/** Nothing new was delivered for longer than anybody may take: a dead member's session is 6 s, kafkajs's own default 30 s. */
const patienceMs = 45_000
const checkEveryMs = 500

/** What comes no more: the run goes on with what there is. */
export class Stalled extends Error {
  override readonly name = 'Stalled'
}

/** The receiver's process, from outside. */
export interface Receiver {
  readonly url: string
  /** An endpoint of the same kind, which can die. */
  readonly mortalUrl: string
  /** Forgets what was, and expects what the script says. */
  begin(script: Script): Promise<void>
  /** Delivered events, at most a tenth of a second ago. */
  delivered(): number
  /**
   * Resolves when so many events were delivered, with the time (milliseconds since 1970). The number must be a mark of the script.
   * @throws Stalled when nothing more has come for 45 s
   */
  reached(count: number): Promise<number>
  tell(): Promise<{ readonly tally: Tally; readonly sample: SampleRequest | undefined }>
  stop(): Promise<void>
}

export async function startReceiver(): Promise<Receiver> {
  const child = fork(new URL('process.ts', import.meta.url), { execArgv: [], serialization: 'advanced' })
  const words = new Words(child)
  const { port } = await words.next('listening')
  const url = `http://127.0.0.1:${port}`
  const order = (order: Order): void => void child.send(order)
  return {
    url: `${url}/hook`,
    mortalUrl: url + mortalPath,
    async begin(script) {
      order({ kind: 'begin', script })
      await words.next('begun')
    },
    delivered: () => words.delivered,
    reached: count => words.mark(count),
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

/** What the process says, for those who wait for it. */
class Words {
  delivered = 0
  readonly #child: ChildProcess
  readonly #marks = new Map<number, number>()
  #lastProgress = 0

  constructor(child: ChildProcess) {
    this.#child = child
    child.on('message', (word: Word) => this.#take(word))
  }

  async next<Kind extends Word['kind']>(kind: Kind): Promise<WordOf<Kind>> {
    return this.#when(word => (word.kind === kind ? (word as WordOf<Kind>) : undefined))
  }

  async mark(count: number): Promise<number> {
    const known = this.#marks.get(count)
    if (known !== undefined) return known
    const { promise, reject } = Promise.withResolvers<never>()
    const check = setInterval(() => {
      if (performance.now() - this.#lastProgress > patienceMs)
        reject(new Stalled(`after ${this.delivered} deliveries none has come for ${patienceMs / 1_000} s`))
    }, checkEveryMs)
    const reached = this.#when(word => (word.kind === 'mark' && word.delivered === count ? word.at : undefined))
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
      if (word.kind === 'mark') this.#marks.set(word.delivered, word.at)
    } else return
    this.#lastProgress = performance.now()
  }

  /** The first answer that `read` finds in a word; rejects when the process ends. */
  #when<T>(read: (word: Word) => T | undefined): Promise<T> {
    return new Promise((resolve, reject) => {
      const onMessage = (word: Word): void => {
        const found = read(word)
        if (found === undefined) return
        this.#child.off('message', onMessage)
        this.#child.off('exit', onExit)
        resolve(found)
      }
      const onExit = (code: number | null): void => reject(new Error(`the receiver has ended with ${code}`))
      this.#child.on('message', onMessage)
      this.#child.on('exit', onExit)
    })
  }
}
