import { describe, expect, it } from '@jest/globals'
import { KafkaOutage } from '../../../../src/core/collector/kafka-outage.ts'

/**
 * Creates a `KafkaOutage` that has noted these steps. `tried 0, failed 5` is a request at 0 ms that
 * failed at 5 ms.
 */
function after(steps: string): KafkaOutage {
  const outage = new KafkaOutage()
  for (const step of steps.split(', ').filter(Boolean)) {
    const [what, at] = step.split(' ') as ['tried' | 'sentNothing' | 'failed' | 'acknowledged', string]
    outage[what](Number(at))
  }
  return outage
}

describe('whether a request is admitted', () => {
  it.each<[string, string, number, boolean]>([
    ['no request so far', '', 0, true],
    ['other requests are in progress', 'tried 0, tried 0', 0, true],
    ['no request has failed, however long one takes', 'tried 0', 9_999, true],
    ['a failure', 'failed 0', 0, false],
    ['a second after a failure, one request is admitted as a probe', 'failed 0', 1_000, true],
    ['a second probe in that second is not', 'failed 0, tried 1000', 1_000, false],
    ['the next probe a second later, whatever the result of the first', 'failed 0, tried 1000', 2_000, true],
    ['within a second after a failed probe began', 'failed 0, tried 1000, failed 1500', 1_999, false],
    ['a second after a failed probe began', 'failed 0, tried 1000, failed 1500', 2_000, true],
    ['a probe that sent nothing leaves its turn to another', 'failed 0, tried 1000, sentNothing 1000', 1_001, true],
    ['only the probe itself can do that', 'tried 0, failed 1, tried 1001, sentNothing 0', 1_002, false],
    ['many failures leave a probe for each second', 'failed 0, failed 400, failed 800', 1_000, true],
    ['an acknowledged probe ends the outage', 'failed 0, tried 1000, acknowledged 1001', 1_001, true],
    ['a late acknowledgement ends the outage', 'failed 0, acknowledged 1', 1, true],
    ['some partitions fail: a write succeeded less than 10 s ago', 'acknowledged 1, failed 10000', 10_000, true],
    ['all partitions fail: no write succeeded for 10 s', 'acknowledged 1, failed 10001', 10_001, false],
  ])('%s: %#', (_, steps, now, expected) => {
    expect(after(steps).admits(now)).toBe(expected)
  })
})

describe('how long the outage lasts', () => {
  it.each<[string, string, number, object | undefined]>([
    ['no failure', 'tried 0', 5, undefined],
    ['since the first failure', 'failed 10, failed 30', 100, { lastedMs: 90, seenMsAgo: 70 }],
    ['an acknowledgement ends it', 'failed 10, acknowledged 20', 100, undefined],
    ['a failure soon after an acknowledgement begins none', 'failed 10, acknowledged 20, failed 40', 100, undefined],
    [
      'since the first failure ten seconds after an acknowledgement',
      'acknowledged 20, failed 40, failed 10020, failed 10050',
      10_100,
      { lastedMs: 80, seenMsAgo: 50 },
    ],
  ])('%s', (_, steps, now, expected) => {
    expect(after(steps).age(now)).toEqual(expected)
  })
})
