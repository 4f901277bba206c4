import { text as readText } from 'node:stream/consumers'
import { formatProblem, problemsToShow } from '../../../adapters/config-file/config-file.ts'
import { type FiledObject, readObjectFiles } from '../../../adapters/config-file/read-files-to-apply.ts'
import type { ObjectApiClient } from '../../../adapters/operator-client/object-api-client.ts'
import { parsePath } from '../../../core/config-objects/parse-path.ts'
import { CommandFailed, ConfigurationRefused, printData, UsageError } from '../../create-command.ts'
import type { OperatorOptions } from '../../operator-api-options-and-clients.ts'
import { type ApplyOutcome, applyObjects, type ObjectClient, type RefusedStep } from './apply-objects-by-api.ts'
import { applyDocument, applyLines } from './apply-output.ts'
import type { ObjectTask } from './subcommand.ts'
import { refusalText, throwIfRefused } from './throw-if-refused.ts'

export interface ApplyOptions extends OperatorOptions {
  readonly file: string
  readonly prune?: boolean
  readonly dryRun?: boolean
}

/** `hookline destinations apply`, `hookline sources apply` */
export async function applyFiles(task: ObjectTask, options: ApplyOptions): Promise<void> {
  const { io, client, kind } = task
  const { file: path, prune = false, dryRun = false } = options
  const read = await readObjectFiles({ kind, path, env: io.env, stdin: () => readText(io.stdin) })
  if (read.kind === 'refused') throw new ConfigurationRefused(read.problems.map(formatProblem))
  const { objects, files } = read
  if (objects.length === 0)
    throw new UsageError(`--file: ${path} contains no ${kind}; to delete a ${kind}, run: hookline ${kind}s delete <id>`)
  const outcome = await applyObjects(objectClientOf(client), { kind, wanted: objects, prune, dryRun })
  if (outcome.kind === 'refused') throw refusalOf(task, outcome.refused, objects, files)
  printData(io, options, applyDocument(outcome), applyLines(kind, outcome))
  if (outcome.kind === 'interrupted') throw interruption(task, outcome)
}

const objectClientOf = (client: ObjectApiClient): ObjectClient => ({
  ...client,
  list: async kind => throwIfRefused(await client.list(kind), kind, ''),
})

/** Creates the error for changes that the API refused. No change was applied. */
function refusalOf(
  { kind }: ObjectTask,
  refused: readonly RefusedStep[],
  objects: readonly FiledObject[],
  files: readonly string[],
): Error {
  const isRace = ({ refusal }: RefusedStep): boolean => refusal?.code === 'precondition_failed'
  const race = refused.find(isRace)
  if (race !== undefined && refused.every(isRace))
    return new CommandFailed(
      `${kind} ${race.step.id} was changed by another client of the operator API or by Hookline itself while the command checked the files; nothing was applied; run the command again`,
    )
  const byId = new Map(objects.map(object => [object.id, object]))
  const located = refused.flatMap(({ step: { id }, refusal }) => {
    const object = byId.get(id)
    if (object === undefined) return []
    return problemsOf(refusal).map(({ path, message, hint }) => object.locate({ path: parsePath(path), message, hint }))
  })
  // A step whose object is not in the files is a deletion by `--prune`.
  const others = refused.flatMap(({ step: { id }, refusal }) =>
    byId.has(id) || refusal === undefined ? [] : [`hookline: ${refusalText(refusal, kind, id)}`],
  )
  return new ConfigurationRefused([...problemsToShow(located, files).map(formatProblem), ...others])
}

function problemsOf(refusal: RefusedStep['refusal']): NonNullable<RefusedStep['refusal']>['problems'] {
  if (refusal === undefined) {
    const hint = 'remove the definition from the configuration file, then run the command again'
    return [{ path: 'id', message: 'is defined in the configuration file of the services', hint }]
  }
  const { code, message, problems } = refusal
  return problems.length > 0 ? problems : [{ path: 'id', message, hint: code }]
}

type Interrupted = Extract<ApplyOutcome, { readonly kind: 'interrupted' }>

function interruption({ kind }: ObjectTask, { done, failed, notStarted }: Interrupted): CommandFailed {
  const reasons = failed.map(({ step: { id }, why }) =>
    why.kind === 'refused' ? refusalText(why, kind, id) : `${kind} ${id}: ${textOf(why.error)}`,
  )
  const counts = `${done.length} of ${done.length + failed.length + notStarted.length} changes were made`
  const these = failed.length === 1 ? 'this problem' : 'these problems'
  const advice = `correct ${these}, then run the command again; changes already made are kept`
  return new CommandFailed([...reasons, counts, advice].join('; '), {
    cause: failed.flatMap(({ why }) => (why.kind === 'thrown' ? [why.error] : []))[0],
  })
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
