import { expect, it } from '@jest/globals'
import fc from 'fast-check'
import { conflicts, hasEnded, type Job, jobKeyOf } from '../../../../src/core/jobs/job.ts'
import {
  advanced,
  cancelOf,
  claimed,
  ended,
  nextClaim,
  ownershipOf,
  released,
} from '../../../../src/core/jobs/job-transitions.ts'
import { JobLog } from '../../../../src/core/jobs/jobs-from-topic.ts'
import { durationMs, epochMs } from '../../../../src/core/time.ts'
import { resendJob } from '../../../support/jobs/builders.ts'

/*
 * Processes read the jobs topic at different speeds, can be inactive for any time, and write
 * records that arrive late.
 */

const processes = ['one', 'two', 'three']
const action = fc.record({
  process: fc.nat(2),
  kind: fc.constantFrom(
    'read',
    'read',
    'claim',
    'claim',
    'advance',
    'end',
    'release',
    'cancel',
    'create',
    'arrive',
    'arrive',
  ),
  pick: fc.nat(5),
})

interface Reader {
  readonly log: JobLog
  offset: number
}

class Model {
  readonly topic: Job[] = []
  /** Records that were sent but are not in the topic yet. */
  readonly sent: Job[] = []
  readonly readers: Reader[] = processes.map(() => ({ log: new JobLog(), offset: 0 }))
  #writes = 0
  #jobs = 0

  constructor() {
    for (const { log } of this.readers) log.markRead()
  }

  do({ process, kind, pick }: { readonly process: number; readonly kind: string; readonly pick: number }): void {
    const { log } = this.readers[process] as Reader
    const owner = processes[process] as string
    const open = [...log.open]
    const own = open.filter(job => ownershipOf(job, owner) !== 'lost')
    const job = own[pick % Math.max(1, own.length)]
    const writeId = `w${this.#writes++}`
    const now = epochMs(this.#writes)
    if (kind === 'create')
      this.sent.push(resendJob(`j${this.#jobs++}`, { destination: pick < 3 ? 'crm' : 'shop', writeId, createdAt: now }))
    else if (kind === 'read') this.read(this.readers[process] as Reader, pick + 1)
    else if (kind === 'arrive') this.arrive(pick)
    else if (kind === 'claim') {
      const next = nextClaim(open, { sinceLastRecord: () => durationMs(pick * 4_000), own: new Set(own.map(jobKeyOf)) })
      if (next !== undefined) this.sent.push(claimed(owner, now)(next, writeId))
    } else if (kind === 'cancel') {
      const cancelled = open[pick % Math.max(1, open.length)]
      const step = cancelled && cancelOf(cancelled, now)
      if (cancelled && step) this.sent.push(step(cancelled, writeId))
    } else if (job !== undefined) {
      const steps = { advance: advanced({}), end: ended('done', now), release: released({}) }
      this.sent.push(steps[kind as keyof typeof steps](job, writeId))
    }
  }

  arrive(pick: number): void {
    const [job] = this.sent.splice(pick % Math.max(1, this.sent.length), 1)
    if (job !== undefined) this.topic.push(job)
  }

  read(reader: Reader, count: number): void {
    for (const job of this.topic.slice(reader.offset, reader.offset + count)) reader.log.apply(job)
    reader.offset = Math.min(this.topic.length, reader.offset + count)
  }
}

it('whatever processes write, and in whatever order it arrives: one owner, one job of a destination at a time', () => {
  fc.assert(
    fc.property(fc.array(action, { minLength: 20, maxLength: 200 }), actions => {
      const model = new Model()
      for (const each of actions) model.do(each)
      while (model.sent.length > 0) model.arrive(0)

      const log = new JobLog()
      log.markRead()
      const last = new Map<string, Job>()
      for (const job of model.topic) {
        if (log.apply(job) !== 'applied') continue
        const before = last.get(jobKeyOf(job))
        expect(job.version).toBe((before?.version ?? 0) + 1)
        if (before !== undefined) expect(hasEnded(before)).toBe(false)
        last.set(jobKeyOf(job), job)
        const running = [...log.open].filter(({ state }) => state === 'running')
        for (const one of running)
          for (const other of running) if (one !== other) expect(conflicts(one, other)).toBe(false)
      }
      for (const reader of model.readers) {
        model.read(reader, model.topic.length)
        expect([...reader.log.open]).toEqual([...log.open])
      }
    }),
  )
})

it('after the copies and a compaction, a new process knows the same jobs', () => {
  fc.assert(
    fc.property(fc.array(action, { minLength: 20, maxLength: 150 }), actions => {
      const model = new Model()
      for (const each of actions) model.do(each)
      while (model.sent.length > 0) model.arrive(0)
      const log = new JobLog()
      log.markRead()
      for (const job of model.topic) log.apply(job)
      const copies = [...log.copies()]
      for (const copy of copies) log.apply(copy)
      expect(log.copies()).toEqual([])

      const compacted = new Map([...model.topic, ...copies].map(job => [jobKeyOf(job), job]))
      const later = new JobLog()
      for (const job of compacted.values()) later.apply(job)
      later.markRead()
      const known = (of: JobLog) => [...compacted.keys()].map(key => of.get(key) && { ...of.get(key), copy: 0 })
      expect(known(later)).toEqual(known(log))
    }),
  )
})
