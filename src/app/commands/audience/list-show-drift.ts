import { once } from 'node:events'
import { type SyncStatus, syncStatusOf } from '../../../core/audience/membership-status-at-destination.ts'
import { countWithNoun } from '../../../core/count-with-noun.ts'
import { audienceDocument, audienceViews } from '../../../core/operator/audience-view.ts'
import { audienceFigures, visitDrift } from '../../../services/operator/audience-figures-and-drift.ts'
import { visitMemberships } from '../../../services/operator/visit-all-memberships.ts'
import { CommandFailed, type CommandIo, printData } from '../../create-command.ts'
import { printable } from '../../terminal-table-and-progress-bar.ts'
import { audienceLines, driftLines, memberLines, membershipDocument } from './output.ts'
import {
  type AudienceOptions,
  type AudienceTask,
  absentValueOf,
  audienceNamed,
  membershipsOf,
} from './subcommand-context.ts'

/** `hookline audience list` */
export async function listAudiences(task: AudienceTask, options: AudienceOptions): Promise<void> {
  const { directory, io } = task
  const figures = await audienceFigures(await figuresDeps(task))
  const views = audienceViews(directory, figures)
  printData(io, options, { audiences: views.map(view => audienceDocument(view)) }, audienceLines(views))
}

interface ShowOptions extends AudienceOptions {
  readonly name: string
  readonly user?: string
}

/** `hookline audience show` */
export async function showAudience(task: AudienceTask, options: ShowOptions): Promise<void> {
  const configured = audienceNamed(task, options.name)
  const { name } = configured
  if (options.user !== undefined) return showUser(task, name, options.user, options)
  const figures = await audienceFigures(await figuresDeps(task), name)
  const view = { name, configured, figures: figures.get(name) }
  printData(task.io, options, audienceDocument(view), audienceLines([view]))
}

async function showUser(task: AudienceTask, audience: string, user: string, options: ShowOptions): Promise<void> {
  const now = task.access.clock.now()
  const rows: Parameters<typeof memberLines>[0][number][] = []
  await visitMemberships(await membershipsOf(task), {
    isWanted: name => name === audience,
    onMembership({ userId, destination }, state) {
      if (userId === user) rows.push({ destination, standing: syncStatusOf(state, now), state })
    },
  })
  const destinations = rows.map(row => membershipDocument({ userId: user, ...row }, row.state))
  const nothing = `the audience ${audience} does not contain the user ${printable(user)}, and no destination needs a change for this user`
  printData(task.io, options, { destinations }, rows.length === 0 ? [nothing] : memberLines(rows))
}

interface DriftOptions extends AudienceOptions {
  readonly name: string
}

/**
 * `hookline audience drift`: counts, for each destination, the users whose current value the
 * destination has not acknowledged.
 */
export async function showDrift(task: AudienceTask, options: DriftOptions): Promise<void> {
  const { io, access } = task
  const { name } = audienceNamed(task, options.name)
  const counts = new Map<string, Record<SyncStatus, number>>()
  const deps = { ...(await membershipsOf(task)), now: access.clock.now() }
  await visitDrift(deps, name, async ({ state, ...member }) => {
    const count = counts.get(member.destination) ?? { acknowledged: 0, in_flight: 0, unknown: 0, different: 0 }
    counts.set(member.destination, count)
    count[member.standing]++
    if (options.json === true) await printLine(io, JSON.stringify(membershipDocument(member, state)))
  })
  const none = `every destination has acknowledged the current values of all users in ${name}`
  const lines = counts.size === 0 ? [none] : driftLines(counts)
  // With --json, stdout has only the JSON lines.
  const output = options.json === true ? io.stderr : io.stdout
  output.write(`${lines.join('\n')}\n`)
  const drifted = [...counts.values()].reduce((sum, { unknown, different }) => sum + unknown + different, 0)
  if (drifted > 0)
    throw new CommandFailed(
      `found ${countWithNoun(drifted, 'pair')} of a user and a destination with the status "unknown" or "different"; check that each destination above is enabled and is in audiences.list for this audience, then run a full sync of the audience`,
    )
}

/** Writes a line, and waits while stdout is full. There may be millions of lines. */
async function printLine({ stdout }: CommandIo, line: string): Promise<void> {
  if (!stdout.write(`${line}\n`)) await once(stdout, 'drain')
}

const figuresDeps = async (task: AudienceTask) => ({
  ...(await membershipsOf(task)),
  now: task.access.clock.now(),
  absentValueOf: absentValueOf(task),
})
