import type { Job, ReplayJob, ResendJob } from '../../../src/core/jobs/job.ts'
import { epochMs } from '../../../src/core/time.ts'

const first = { format: 1, version: 1, copy: 0, state: 'waiting', createdAt: epochMs(0), createdBy: 'ada' } as const

export const resendJob = (id: string, given: Partial<ResendJob> = {}): ResendJob => ({
  ...{ ...first, id, kind: 'resend', writeId: `${id}-1`, destination: 'crm', ends: [100], next: [0] },
  ...{ since: epochMs(0), until: epochMs(1), progress: { read: 0, total: 100, sent: 0, skipped: 0 } },
  ...given,
})

export const replayJob = (id: string, given: Partial<ReplayJob> = {}): ReplayJob => ({
  ...{ ...first, id, kind: 'replay', writeId: `${id}-1`, filters: { destination: 'crm' }, ends: [100] },
  progress: { seen: 0, replayed: 0, refused: 0 },
  ...given,
})

export const running = <T extends Job>(job: T, owner = 'one'): T => ({
  ...job,
  ...{ state: 'running', owner, version: job.version + 1, writeId: `${job.id}-${owner}-${job.version + 1}` },
})
