import { yamlOf } from '../../../adapters/config-file/write-yaml.ts'
import type { ShownObject } from '../../../adapters/operator-client/object-api-client.ts'
import type { ObjectKind } from '../../../core/config-objects/config-objects.ts'
import { type CommandIo, print, printData } from '../../create-command.ts'
import type { OperatorOptions } from '../../operator-api-options-and-clients.ts'
import { printable, tableOf } from '../../terminal-table-and-progress-bar.ts'
import type { ObjectTask } from './subcommand.ts'
import { problemText, throwIfRefused } from './throw-if-refused.ts'

export interface ListOptions extends OperatorOptions {
  readonly state?: string
  readonly source?: string
  readonly search?: string
}

/** `hookline destinations list`, `hookline sources list` */
export async function listObjects({ io, client, kind }: ObjectTask, options: ListOptions): Promise<void> {
  const { state, source, search: q } = options
  const objects = throwIfRefused(await client.list(kind, { state, source, q }), kind, '')
  const lines =
    objects.length === 0
      ? []
      : tableOf(
          titles(kind),
          objects.map(object => rowOf(kind, object)),
        )
  if (options.json === true || lines.length > 0) printData(io, options, { [`${kind}s`]: objects }, lines)
  if (options.json === true) return
  if (objects.length === 0) io.stderr.write(`hookline: no ${kind}s found\n`)
  for (const object of objects) printProblems(io, kind, object)
}

const titles = (kind: ObjectKind): readonly string[] => [
  ...['ID', 'STATE', 'ORIGIN', 'VERSION'],
  ...(kind === 'destination' ? ['SOURCES'] : []),
  ...['CHANGED AT', 'CHANGED BY'],
]

function rowOf(kind: ObjectKind, object: ShownObject): readonly string[] {
  const { id, state, origin, version, changedAt = '-', changedBy = '-', document } = object
  const sources = [document['sources'] ?? []].flat().map(String).join(', ')
  return [
    ...[id, state, origin, version === 0 ? '-' : String(version)],
    ...(kind === 'destination' ? [sources] : []),
    ...[changedAt, changedBy],
  ]
}

/**
 * Prints to stderr the problems of an object, its unknown sources, and the reason why it was
 * disabled.
 */
function printProblems(io: CommandIo, kind: ObjectKind, object: ShownObject): void {
  const { id, conflict, problems, disabledAutomatically: disabling } = object
  const lines = [
    ...problems.map(problemText),
    ...(conflict
      ? [
          'is defined in the configuration file and through the operator API: Hookline uses only the definition in the file; to use or delete the definition of the operator API, first remove the one in the file',
        ]
      : []),
    ...(disabling === undefined ? [] : [disablingText(id, disabling)]),
  ]
  for (const line of lines) io.stderr.write(`hookline: ${kind} ${printable(id)}: ${printable(line)}\n`)
}

const disablingText = (id: string, { at, reason, failingSince }: NonNullable<ShownObject['disabledAutomatically']>) =>
  `Hookline disabled this destination at ${at}, because ${whyDisabled[reason]} since ${failingSince} (see its setting ${disablingKeys[reason]}); Hookline drops its events; when the endpoint works again, run: hookline destinations enable ${id}`

const disablingKeys = { failing: 'lifecycle.disableAfter', gone: 'lifecycle.onGone' } as const

const whyDisabled = {
  failing: 'no attempt had succeeded',
  gone: 'all its webhooks had responded with 410 Gone',
} as const

/** `hookline destinations show`, `hookline sources show` */
export async function showObject(
  { io, client, kind }: ObjectTask,
  options: OperatorOptions,
  id: string,
): Promise<void> {
  const object = throwIfRefused(await client.get(kind, id), kind, id)
  if (options.json === true) return printData(io, options, object, [])
  const { origin, version, state, changedAt, changedBy, document } = object
  const change = changedAt === undefined ? '' : `, changed at ${changedAt} by ${changedBy ?? 'unknown'}`
  const about = origin === 'file' ? 'defined in the configuration file' : `version ${version}${change}`
  print(io, printable(`# ${kind} ${id}: ${state}, ${about}`))
  io.stdout.write(yamlOf({ id, ...document }))
  printProblems(io, kind, object)
}
