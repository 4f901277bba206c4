import { createHmac } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { markOf, parseMark } from './configuration-verdict.ts'
import type { Delivery } from './message-ledger.ts'
import type { Inspection, Script } from './receiver.ts'
import { allPartitions, now, onPartitions } from './recovery-condition.ts'
import type { ConfigurationOf, Fault, Hit } from './scenario.ts'
import type { World } from './world.ts'

const secretFile = (directory: string): string => join(directory, 'destination.secret')
const secretOf = (number: number): string => `the-secret-number-${number}`
const editionHeader = 'x-edition'
/**
 * Time in ms in which requests with the old secret may arrive after all processes use the new one.
 */
const underWayMs = 500
/** `signature` tries to verify a request with the secrets 1 to 20. */
const mostSecrets = 20

/**
 * Writes the first secret file. Returns the first edition (version) of the configuration. Each
 * request has the number of its edition in a header.
 */
export function signedConfiguration({ destinations, directory }: ConfigurationOf) {
  writeFileSync(secretFile(directory), secretOf(1))
  return edited({ destinations }, 1, secretFile(directory))
}

/** Finds the number of the secret that signed a request, and the edition in its header. */
export const signature: Inspection = ({ headers, body }) => {
  const numbers = Array.from({ length: mostSecrets }, (_, index) => index + 1)
  const made = (number: number): string => createHmac('sha1', secretOf(number)).update(body).digest('hex')
  const secret = numbers.find(number => made(number) === headers['x-signature'])
  return markOf({ secret: secret === undefined ? 'nobody' : String(secret), edition: String(headers[editionHeader]) })
}

/** An endpoint that accepts requests signed with one of these secrets, and rejects all others. */
export const takesOnly =
  (...secrets: readonly number[]): Script =>
  (_id, _call, mark) =>
    secrets.map(String).includes(parseMark(mark).secret) ? 200 : 401

/** The condition for a recovery: each running process has sent a request that shows the change. */
function everywhere({ fleet }: World, from: number, isNew: (delivery: Delivery) => boolean): Hit['recovery'] {
  const keys = new Set(fleet.members().map(({ name }) => name))
  return { keys, from, keyOf: delivery => (isNew(delivery) ? delivery.process : undefined) }
}

/**
 * Replaces the secret file by rename, as Kubernetes does. The endpoint accepts the old secret until
 * each process has used the new one.
 */
export const rotateSecret = (destination: string): Fault => ({
  name: 'secret',
  async inject(world) {
    const file = secretFile(world.directory)
    const before = Number((await readFile(file, 'utf8')).slice(secretOf(0).length - 1))
    const next = before + 1
    world.receiver.follow(destination, takesOnly(before, next))
    const at = now()
    await writeFile(`${file}.next`, secretOf(next))
    await rename(`${file}.next`, file)
    return {
      what: `${before} to ${next}`,
      at,
      recovery: everywhere(world, at, ({ mark }) => parseMark(mark).secret === String(next)),
      async heal() {
        await delay(underWayMs)
        world.receiver.follow(destination, takesOnly(next))
        return []
      },
    }
  },
})

/** Rewrites the configuration file in place with the next edition. */
export const editConfiguration: Fault = {
  name: 'edit',
  async inject(world) {
    const { installation, configuration, directory } = world
    const edition = editionIn(await readFile(installation.configFile, 'utf8')) + 1
    const at = now()
    await installation.configure(edited(configuration, edition, secretFile(directory)))
    return {
      what: `edition ${edition}`,
      at,
      recovery: everywhere(world, at, ({ mark }) => parseMark(mark).edition === String(edition)),
    }
  },
}

/**
 * Truncates the configuration file, then restores it. No process may load the truncated file, and
 * none may exit.
 */
export const breakConfiguration = (seconds: number): Fault => ({
  name: 'broken file',
  async inject(world) {
    const { configFile } = world.installation
    const whole = await readFile(configFile, 'utf8')
    const at = now()
    await writeFile(configFile, whole.slice(0, whole.length / 2))
    await delay(seconds * 1_000)
    await writeFile(configFile, whole)
    return { what: `for ${seconds} s`, at, recovery: onPartitions(allPartitions, now()) }
  },
})

const editionIn = (text: string): number => Number(new RegExp(`"${editionHeader}": "(\\d+)"`).exec(text)?.[1])

interface Webhook {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}
type Destination = Readonly<Record<string, unknown>> & { readonly webhooks: readonly Webhook[] }

/**
 * `edition` decides a header of each request, the log level, and whether a second destination
 * exists.
 */
function edited(configuration: Readonly<Record<string, unknown>>, edition: number, sharedSecretFile: string) {
  const [first] = configuration['destinations'] as readonly [Destination]
  const own = {
    ...first,
    sharedSecretFile,
    webhooks: first.webhooks.map(({ url, headers }) => ({
      url,
      headers: { ...headers, [editionHeader]: String(edition) },
    })),
  }
  const other = { id: 'other', sources: ['web'], webhooks: first.webhooks.map(({ url }) => ({ url: `${url}-other` })) }
  return {
    ...configuration,
    log: { level: edition % 3 === 0 ? 'warn' : 'info' },
    destinations: edition % 2 === 0 ? [own, other] : [own],
  }
}
