import { expect, it } from '@jest/globals'
import { AttemptSample } from '../../../../src/core/flow/sampled-attempt-duration.ts'

it('attempts are quick before the first one, and after one of 100 ms', () => {
  const sample = new AttemptSample()
  expect(sample.isQuick(0)).toBe(true)
  const attempt = {}
  sample.started(attempt, 0)
  sample.ended(attempt, 100)
  expect(sample.isQuick(5_000)).toBe(true)
})

it('attempts are not quick while one takes longer, and after it until the next one has ended', () => {
  const sample = new AttemptSample()
  const [slow, ignored, quick] = [{}, {}, {}]
  sample.started(slow, 0)
  sample.started(ignored, 50)
  sample.ended(ignored, 60)
  expect([sample.isQuick(100), sample.isQuick(101)]).toEqual([true, false])
  sample.ended(slow, 101)
  expect(sample.isQuick(102)).toBe(false)
  sample.started(quick, 110)
  expect(sample.isQuick(111)).toBe(false)
  sample.ended(quick, 120)
  expect(sample.isQuick(121)).toBe(true)
})
