import { expect, it } from '@jest/globals'
import { KafkaError, topicMissing } from '../../../../src/adapters/kafka/kafkajs/errors.ts'
import { encodeJob, type Job, jobKeyOf } from '../../../../src/core/jobs/job.ts'
import { epochMs } from '../../../../src/core/time.ts'
import { openReplays } from '../../../../src/services/jobs/unfinished-replay-jobs.ts'
import { replayJob, resendJob, running } from '../../../support/jobs/builders.ts'
import { MemoryTopics } from '../../../support/kafka/memory-topics-for-replays.ts'

const topic = 'hookline.jobs'
const clock = { now: () => epochMs(100_000) }
const replay = running(replayJob('r'))

const recordOf = (job: Job) => ({
  key: Buffer.from(jobKeyOf(job)),
  value: Buffer.from(encodeJob(job)),
  ...{ headers: {}, partition: 0 },
})

/** Returns the ids of open replays, each with `active` if it has a record of the last minute. */
async function openOf(jobs: readonly Job[], ageMs: number) {
  const topics = new MemoryTopics(() => epochMs(clock.now() - ageMs))
  for (const job of jobs) topics.write(topic, recordOf(job))
  const open = await openReplays({ reader: topics.reader(), clock, topic })
  return open.map(({ job, isActive }) => `${job.id}${isActive ? ' active' : ''}`)
}

it.each<[string, Job[], number, string[]]>([
  ['a running replay', [replay], 1_000, ['r active']],
  ['a running replay whose start is more than a minute ago', [{ ...replay, version: 500 }], 1_000, ['r active']],
  ['no replay that has ended', [replay, { ...replay, version: 3, writeId: 'w', state: 'done' }], 1_000, []],
  ['a replay that will soon start', [replayJob('r')], 1_000, ['r active']],
  ['a replay that waits for an operator service', [replayJob('r')], 61_000, ['r']],
  ['no dry run', [{ ...replay, isDryRun: true }], 1_000, []],
  ['no resend', [running(resendJob('r'))], 1_000, []],
  ['a replay without a record in the last minute', [replay], 61_000, ['r']],
])('finds %s', async (_, jobs, ageMs, open) => expect(await openOf(jobs, ageMs)).toEqual(open))

const forbidden = new KafkaError('not authorized', { code: 'TOPIC_AUTHORIZATION_FAILED', retriable: false })
const unreachable = new KafkaError('no broker', { code: 'ECONNREFUSED', retriable: true })

it.each([
  ['does not exist', topicMissing(topic)],
  ['must not be read', forbidden],
])('finds no replay if the jobs topic %s', async (_, error) => {
  const reader = { readToEnd: () => Promise.reject(error) }
  expect(await openReplays({ reader, clock, topic })).toEqual([])
})

it('rejects when Kafka cannot be used', async () => {
  const reader = { readToEnd: () => Promise.reject(unreachable) }
  await expect(openReplays({ reader, clock, topic })).rejects.toBe(unreachable)
})
