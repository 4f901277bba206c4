import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RunningService } from '../../../deploy/tools/local/hookline-process.ts'
import { startInstallation, type TestInstallation } from '../process/test-installation.ts'
import { audience } from './partition-harness.ts'
import { AudienceReceiver } from './receiver.ts'

/** An installation with one audience, and a receiver for each of its destinations. */
export interface AudienceInstallation {
  readonly installation: TestInstallation
  readonly receivers: ReadonlyMap<string, AudienceReceiver>
  run(): Promise<RunningService>
  /**
   * Syncs a full list. Resolves when Kafka has stored it; with `wait`, when its changes are
   * delivered or have failed.
   */
  sync(members: Iterable<string>, options?: { readonly wait?: boolean }): Promise<void>
  close(): Promise<void>
}

export async function startAudienceInstallation(
  destinations: readonly string[],
  delivery: Readonly<Record<string, unknown>> = {},
): Promise<AudienceInstallation> {
  const receivers = new Map<string, AudienceReceiver>()
  for (const id of destinations) receivers.set(id, await AudienceReceiver.started())
  const installation = await startInstallation({
    delivery: { transport: 'undici', ...delivery },
    destinations: [...receivers].map(([id, { url }]) => ({ id, sources: ['web'], webhooks: [{ url }] })),
    audiences: { emitPerSecond: 100_000, list: [{ name: audience, kind: 'audience', destinations }] },
  })
  const directory = await mkdtemp(join(tmpdir(), 'hookline-members-'))
  return {
    installation,
    receivers,
    run: () => installation.run({}, ['--services', 'dispatcher,audiences']),
    async sync(members, { wait = false } = {}) {
      const file = join(directory, 'members.txt')
      await writeFile(file, [...members].join('\n'))
      await installation.command('audience', 'sync', '--name', audience, '--members', file, ...(wait ? ['--wait'] : []))
    },
    async close() {
      await installation.close()
      for (const receiver of receivers.values()) await receiver.close()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

export const users = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, index) => `user-${from + index}`)
