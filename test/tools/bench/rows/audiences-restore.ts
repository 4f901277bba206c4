import { mkdtemp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePorts } from '../../../../deploy/tools/local/free-ports.ts'
import { parseMetrics } from '../../../../deploy/tools/local/hookline-process.ts'
import { mallocSettings, nodeFlags } from '../../../../deploy/tools/local/node-flags.ts'
import { bounds } from '../bounds.ts'
import { benchAudience, benchDestination, fillMemberships } from '../fill-memberships-topic.ts'
import { type ForwarderProcess, type Job, startNode } from '../forwarders/forwarder.ts'
import { createInstallation, type Installation } from '../installation-topics.ts'
import { cpuSeconds, micros, residentMb, together } from '../process-usage.ts'
import { profileOf } from '../profile-summary.ts'
import { variantOf } from '../variant-names.ts'
import { type Bench, type Outcome, scaled } from './row.ts'

const program = new URL('../../../../bin/hookline.js', import.meta.url).pathname
/** Time between two polls, in ms. Polls are rare, because each uses CPU of the measured process. */
const lookEveryMs = 250

interface Restored {
  readonly cpu: number
  readonly members: number
  readonly bytes: number
  readonly residentMb: number
  readonly profile: string | undefined
  readonly window: { readonly from: number; readonly to: number }
}

/** Measures the CPU time and memory of a starting process that restores a million memberships. */
export async function audiencesRow(bench: Bench): Promise<Outcome> {
  const count = scaled(bench, 1_000_000)
  const installation = await createInstallation(bench.stage)
  const job: Job = { stage: bench.stage, installation, inFlight: 1, profile: bench.profile }
  try {
    const empty = await restored(job, installation)
    bench.say(`wrote ${count} members of audiences to Kafka`)
    await fillMemberships(bench.stage, installation, count)
    const full = await restored(job, installation)
    const perSecond = full.members / (full.cpu - empty.cpu)
    const each = full.bytes / full.members
    bench.say(
      `restored ${full.members} members: ${Math.round(perSecond)} per CPU second, ${Math.round(each)} bytes per member`,
    )
    const subject = variantOf.audiences(count)
    return {
      findings: [
        {
          subject,
          what: 'members restored',
          unit: 'members per CPU second',
          measured: perSecond,
          ...bounds.restoredPerCpuSecond,
        },
        { subject, what: 'memory per member', unit: 'bytes', measured: each, ...bounds.bytesPerMember },
        { subject, what: 'missing members', measured: count - full.members, ...bounds.lost },
      ],
      figures: [
        {
          members: count,
          'members restored per CPU second': perSecond,
          'bytes per member': each,
          'resident MB': Math.round(full.residentMb),
          'resident MB without members': Math.round(empty.residentMb),
        },
      ],
      profiles: await profileOf(subject, full),
    }
  } finally {
    await installation.close()
  }
}

async function restored(job: Job, installation: Installation): Promise<Restored> {
  const port = await freePorts(1)
  const file = join(await mkdtemp(join(installation.directory, 'config-')), 'hookline.json')
  await writeFile(file, JSON.stringify(configuration(job, installation, port)))
  const from = micros()
  const started = await startNode(job, program, ['run', '--services', 'audiences', '--config', file], {
    flags: nodeFlags,
    env: mallocSettings,
  })
  try {
    const metrics = await Promise.race([untilRestored(port, installation.partitions), started.died])
    return { ...figuresOf(metrics, started), profile: started.profile, window: { from, to: micros() } }
  } finally {
    await started.stop()
  }
}

function figuresOf(
  metrics: ReadonlyMap<string, number>,
  { pids }: ForwarderProcess,
): Omit<Restored, 'profile' | 'window'> {
  const figure = (name: string): number => metrics.get(name) ?? Number.NaN
  return {
    cpu: together(pids, cpuSeconds),
    residentMb: together(pids, residentMb),
    members: figure('hookline_audience_memberships'),
    bytes: figure('hookline_audience_memberships_bytes'),
  }
}

function configuration({ stage }: Job, { base, sourceIds }: Installation, port: number): object {
  return {
    ...base,
    ops: { listen: `127.0.0.1:${port}` },
    destinations: [{ id: benchDestination, sources: sourceIds, webhooks: [{ url: stage.receiver.url }] }],
    audiences: { list: [{ name: benchAudience, destinations: [benchDestination] }] },
  }
}

async function untilRestored(port: number, partitions: number): Promise<ReadonlyMap<string, number>> {
  for (;;) {
    const answer = await fetch(`http://127.0.0.1:${port}/metrics`).catch(() => undefined)
    const metrics = parseMetrics((await answer?.text()) ?? '')
    if (metrics.get('hookline_audience_partitions{state="restored"}') === partitions) return metrics
    await delay(lookEveryMs)
  }
}
