import { randomUUID } from 'node:crypto'
import { type Forwarder, type Job, startProcess, targetsOf } from './forwarder.ts'

/**
 * Placeholders in the command of a peer, a program in the variable `PEER` that is compared with
 * Hookline.
 */
const placeholders = ['brokers', 'topic', 'group', 'url', 'hosts', 'inFlight'] as const
type Values = Readonly<Record<(typeof placeholders)[number], string>>

/** Splits `name=command {topic} …`. @throws RangeError for another form */
export function parsePeer(text: string): { readonly name: string; readonly command: string } {
  const [, name, command] = /^([\w.-]+)=(.+)$/s.exec(text.trim()) ?? []
  if (name === undefined || command === undefined)
    throw new RangeError(
      `PEER must be name=command with the placeholders ${placeholders.map(each => `{${each}}`).join(' ')}: ${text}`,
    )
  const unknown = [...command.matchAll(/(?<!\$)\{(\w+)\}/g)].map(([, word]) => word).find(word => !isPlaceholder(word))
  if (unknown !== undefined)
    throw new RangeError(
      `PEER ${name}: unknown placeholder {${unknown}}, known are ${placeholders.map(each => `{${each}}`).join(' ')}`,
    )
  return { name, command }
}

const isPlaceholder = (word: string | undefined): boolean => placeholders.some(each => each === word)

/** Replaces each placeholder by its value, quoted as one shell word. */
export function filledIn(command: string, values: Values): string {
  return command.replaceAll(
    /(?<!\$)\{(\w+)\}/g,
    (_, word: keyof Values) => `'${values[word].replaceAll("'", `'\\''`)}'`,
  )
}

/**
 * The values as environment variables, for example `BENCH_IN_FLIGHT`, for programs that do not get
 * them from their command.
 */
export function asEnvironment(values: Values): Readonly<Record<string, string>> {
  const nameOf = (word: string): string => `BENCH_${word.replaceAll(/[A-Z]/g, letter => `_${letter}`).toUpperCase()}`
  return Object.fromEntries(placeholders.map(word => [nameOf(word), values[word]]))
}

export function peer({ name, command }: { readonly name: string; readonly command: string }): Forwarder {
  return {
    name,
    start(job: Job) {
      const targets = targetsOf(job)
      const values: Values = {
        brokers: job.stage.brokers.join(','),
        topic: job.installation.topics.events,
        group: `${job.installation.topics.events}.${name}-${randomUUID()}`,
        url: targets[0].url,
        hosts: String(targets.length),
        inFlight: String(job.inFlight),
      }
      // `exec` replaces the shell, so signals reach the command.
      return startProcess(job, '/bin/sh', ['-c', `exec ${filledIn(command, values)}`], { env: asEnvironment(values) })
    },
  }
}
