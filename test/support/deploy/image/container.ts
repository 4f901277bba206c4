import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import type { Image } from './build-image.ts'
import { enclosed, innermost, statusOf } from './linux-namespaces.ts'

export interface Container {
  /** The first line on stdout. */
  readonly ready: string
  readonly collector: string
  /** The content of `/proc/1/status` in the container. */
  status(): string
  readyz(): Promise<number>
  /** Sends SIGTERM to process 1, and waits for its exit. `milliseconds` begin with the signal. */
  stop(): Promise<{ readonly code: number | null; readonly milliseconds: number }>
  close(): Promise<void>
}

/**
 * Starts a container as `docker run --read-only --cap-drop ALL --security-opt no-new-privileges`
 * does.
 * @throws when it exits before it is ready
 */
export async function startContainer(
  image: Image,
  configuration: string,
  words: readonly string[] = image.command,
): Promise<Container> {
  const child = start(image, configuration, [...image.entrypoint, ...words])
  const log = text(child.stderr!)
  const exited = once(child, 'exit').then(([code]) => code as number | null)
  const ready = await Promise.race([
    once(createInterface({ input: child.stdout! }), 'line').then(([line]) => line as string),
    exited.then(async code => {
      throw new Error(`the container ended with ${code} before it was ready:\n${await log}`)
    }),
  ])
  const inside = innermost(child)
  const placeOf = (name: string): string => new RegExp(`\\b${name}=(\\S+)`).exec(ready)?.[1] ?? ''
  return {
    ready,
    collector: placeOf('collector'),
    status: () => statusOf(inside),
    readyz: async () => (await fetch(`${placeOf('ops')}/readyz`)).status,
    async stop() {
      const before = performance.now()
      process.kill(inside, 'SIGTERM')
      return { code: await exited, milliseconds: performance.now() - before }
    },
    async close() {
      child.kill('SIGKILL')
      await exited
    },
  }
}

export async function runInContainer(image: Image, configuration: string, words: readonly string[]) {
  const child = start(image, configuration, words)
  const [[code], stdout, stderr] = await Promise.all([once(child, 'exit'), text(child.stdout!), text(child.stderr!)])
  return { code: code as number | null, stdout, stderr }
}

function start(image: Image, configuration: string, words: readonly string[]) {
  const mounted = dirname(image.environment['HOOKLINE_CONFIG'] as string)
  mkdirSync(join(image.root, mounted), { recursive: true })
  const [uid] = image.user.split(':')
  return enclosed(
    { ...image, binds: [...image.binds, [configuration, mounted] as const], confined: { uid: Number(uid) } },
    words,
  )
}
