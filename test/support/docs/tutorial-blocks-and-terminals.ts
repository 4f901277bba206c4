import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { checkout } from './pages.ts'

export const blocksIn = (page: string, language: string): readonly string[] =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)\\n\`\`\`$`, 'gms'))].map(([, block = '']) => block)

/** Matches the output that a page shows, with any ports, ids and times. */
export function outputLike(shown: string): RegExp {
  const varies = [
    /127\.0\.0\.1:\d+/,
    /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/,
    /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/,
    /\d\d:\d\d:\d\d\.\d{3}/,
  ]
  const any = new RegExp(varies.map(({ source }) => source).join('|'), 'g')
  const fixed = shown.split(any).map(piece => piece.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${fixed.join(`(?:${any.source})`)}$`)
}

/** The terminals in which a reader of a tutorial types. */
export class Terminals {
  env: NodeJS.ProcessEnv = { ...process.env }
  readonly #running = new Set<ChildProcess>()
  readonly #adapted: (command: string) => string

  /** `adapted` replaces the ports and paths of a command by those of this run. */
  constructor(adapted: (command: string) => string) {
    this.#adapted = adapted
  }

  /** Starts a command that keeps running. `nextLine` rejects when the command has ended. */
  start(command: string): { readonly child: ChildProcess; readonly nextLine: () => Promise<string> } {
    const child = this.#spawn(command)
    this.#running.add(child)
    let complaints = ''
    child.stderr!.on('data', chunk => {
      complaints += chunk
    })
    const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]()
    return {
      child,
      async nextLine() {
        const { value, done } = await lines.next()
        if (done === true) throw new Error(`${command} has ended\n${complaints}`)
        return value
      },
    }
  }

  async stop(child: ChildProcess): Promise<void> {
    this.#running.delete(child)
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGINT')
    await once(child, 'exit')
  }

  async run(command: string): Promise<{ code: number; out: string; err: string }> {
    const child = this.#spawn(command)
    const [out, err, [code]] = await Promise.all([text(child.stdout!), text(child.stderr!), once(child, 'close')])
    return { code: code as number, out, err }
  }

  async stopAll(): Promise<void> {
    for (const child of this.#running) await this.stop(child)
  }

  #spawn(command: string): ChildProcess {
    const words = ['-c', this.#adapted(command)]
    return spawn('sh', words, { cwd: checkout, env: this.env, stdio: ['ignore', 'pipe', 'pipe'] })
  }
}
