import {
  type Audience,
  type AudienceDirectory,
  absentValue,
  audienceDirectory,
} from '../../../core/audience/configured-audiences.ts'
import type { JsonText } from '../../../core/message/canonical-json-text.ts'
import { type TopicNames, topicNames } from '../../../core/topics.ts'
import type { MembershipSource } from '../../../services/operator/visit-all-memberships.ts'
import type { SyncDeps } from '../../../services/operator/write-sync-members-and-end.ts'
import { type CommandIo, withRemedy } from '../../create-command.ts'
import type { CommandClients, OpenCommandClients } from '../../kafka-clients-of-commands.ts'
import { loadMergedSettings } from '../../merged-settings-of-command.ts'
import { choice } from '../../options.ts'

/** The options that all `hookline audience` commands share. */
export interface AudienceOptions {
  readonly config?: string
  readonly json?: boolean
}

/** The clients and settings that a `hookline audience` command uses. */
export interface AudienceTask {
  readonly io: CommandIo
  readonly access: CommandClients
  readonly topics: TopicNames
  readonly directory: AudienceDirectory
}

export type AudienceWork<Options> = (task: AudienceTask, options: Options) => Promise<void>

/**
 * Opens the clients of a command, calls `work`, and closes the clients.
 * @throws the error of `work`
 */
export async function audienceTask<Options extends AudienceOptions>(
  options: Options,
  io: CommandIo,
  open: OpenCommandClients,
  work: AudienceWork<Options>,
): Promise<void> {
  const settings = await loadMergedSettings(options, io)
  const access = open(settings, io)
  const topics = topicNames(settings.topics.prefix)
  try {
    await work({ io, access, topics, directory: audienceDirectory(settings) }, options)
  } catch (error) {
    throw withRemedy(error)
  } finally {
    await access.close()
  }
}

/**
 * Returns the audience that `--name` names.
 * @throws UsageError that suggests the nearest name, or lists all names
 */
export function audienceNamed({ directory }: AudienceTask, name: string): Audience {
  return directory.get(choice('--name', name, [...directory.keys()])) as Audience
}

/** The topic, reader and codec of memberships. @throws SchemaNotRegistered, RegistryUnavailable */
export async function membershipsOf({ access, topics }: AudienceTask): Promise<MembershipSource> {
  const { reader, clock } = access
  return { reader, topic: topics.memberships, codec: await access.memberships(), clock }
}

/** The dependencies for writing audience inputs. */
export async function inputsOf({ access, topics }: AudienceTask): Promise<SyncDeps> {
  const topic = topics.audienceInput
  const { encode } = await access.inputs()
  const partitions = async (): Promise<number> => (await access.positions.ends(topic)).length
  return { producer: access.producer, topic, partitions, encodeInput: encode }
}

/**
 * Returns the value that means "not a member" of the audience or computed trait `name`. A name that
 * is not configured is treated as the name of an audience.
 */
export const absentValueOf =
  ({ directory }: AudienceTask) =>
  (name: string): JsonText =>
    directory.get(name)?.absent ?? absentValue('audience')
