import {
  type Audience,
  type AudienceDirectory,
  absentValue,
  audienceDirectory,
} from '../../../core/audience/directory.ts'
import { changeExpiry } from '../../../core/audience/sync-status.ts'
import { type TopicNames, topicNames } from '../../../core/topics.ts'
import type { DurationMs, JsonText } from '../../../core/units.ts'
import type { MembershipSource } from '../../../services/operator/read-memberships.ts'
import type { SyncDeps } from '../../../services/operator/write-sync.ts'
import { type CommandIo, withRemedy } from '../../command.ts'
import { loadSettings } from '../../load-settings.ts'
import type { OpenOperatorAccess, OperatorAccess } from '../../operator-access.ts'
import { choice } from '../../options.ts'

/** Of every `hookline audience` command. */
export interface AudienceOptions {
  readonly config?: string
  readonly json?: boolean
}

/** What every `hookline audience` command works with. */
export interface AudienceTask {
  readonly io: CommandIo
  readonly access: OperatorAccess
  readonly topics: TopicNames
  readonly directory: AudienceDirectory
  /** After so long a change that was not heard of counts as undelivered. */
  readonly expiry: DurationMs
}

export type AudienceWork<Options> = (task: AudienceTask, options: Options) => Promise<void>

/** Does the work of a command, and ends what it used. @throws what says in one line why it failed */
export async function audienceTask<Options extends AudienceOptions>(
  options: Options,
  io: CommandIo,
  open: OpenOperatorAccess,
  work: AudienceWork<Options>,
): Promise<void> {
  const settings = await loadSettings(options, io)
  const access = open(settings, io)
  const topics = topicNames(settings.topics.prefix)
  const expiry = changeExpiry(settings.delivery.window)
  try {
    await work({ io, access, topics, directory: audienceDirectory(settings), expiry }, options)
  } catch (error) {
    throw withRemedy(error)
  } finally {
    await access.close()
  }
}

/** The audience that `--name` means. @throws UsageError with the nearest name, or all of them */
export function audienceNamed({ directory }: AudienceTask, name: string): Audience {
  return directory.get(choice('--name', name, [...directory.keys()])) as Audience
}

/** The memberships topic. @throws SchemaNotRegistered, RegistryUnavailable */
export async function membershipsOf({ access, topics }: AudienceTask): Promise<MembershipSource> {
  return { reader: access.reader, topic: topics.memberships, codec: await access.memberships() }
}

/** For who writes inputs of audiences. */
export async function inputsOf({ access, topics }: AudienceTask): Promise<SyncDeps> {
  const topic = topics.audienceInput
  const { encode } = await access.inputs()
  const partitions = async (): Promise<number> => (await access.positions.ends(topic)).length
  return { producer: access.producer, topic, partitions, encodeInput: encode }
}

/** Of an audience that is not configured any more nobody knows the kind: most are audiences. */
export const absentOf =
  ({ directory }: AudienceTask) =>
  (name: string): JsonText =>
    directory.get(name)?.absent ?? absentValue('audience')
