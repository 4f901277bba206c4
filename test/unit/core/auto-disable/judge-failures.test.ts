import { describe, expect, it } from '@jest/globals'
import type { SeenFailures } from '../../../../src/core/auto-disable/failure-counter.ts'
import {
  type DisableRule,
  type FailureState,
  isWatched,
  judgeFailures,
  minAttempts,
  urlHashesOf,
  type Verdict,
  withoutFailures,
} from '../../../../src/core/auto-disable/judge-failures.ts'
import { durationMs, epochMs } from '../../../../src/core/time.ts'

const hour = 3_600_000
const now = epochMs(1_000 * hour)
const never = epochMs(Number.NEGATIVE_INFINITY)
const ago = (hours: number) => epochMs(now - hours * hour)

const rule: DisableRule = {
  ...{ urls: 'aaaaaaaa', version: 3, webhooks: ['a', 'b'], onGone: 'notify' },
  disableAfter: durationMs(72 * hour),
}
const onGone = { ...rule, disableAfter: undefined, onGone: 'disable' } as const
const tenSeconds = { ...rule, disableAfter: durationMs(10_000) }
const secondsAgo = (seconds: number) => epochMs(now - seconds * 1_000)
const nothing: SeenFailures = { attempts: 0, firstAt: never, lastAt: never, gone: [], resetAt: never }
const failed = (attempts: number): SeenFailures => ({ ...nothing, attempts, firstAt: now, lastAt: now })
/** A 410 a second after a success. */
const gone: SeenFailures = { ...nothing, firstAt: now, lastAt: now, resetAt: secondsAgo(1) }
const failing = (hours: number, attempts = minAttempts): FailureState => ({
  ...withoutFailures(rule),
  failingSince: ago(hours),
  attempts,
})
const disabled = (hours: number): FailureState => ({
  ...failing(hours + 72),
  disabled: { at: ago(hours), reason: 'failing', failingSince: ago(hours + 72) },
})

describe('keeps the state', () => {
  it.each<[string, FailureState | undefined, SeenFailures, DisableRule]>([
    ['nothing has failed', undefined, nothing, rule],
    ['nothing has failed since a success', withoutFailures(rule), nothing, rule],
    ['nothing has failed since the URLs changed', { ...withoutFailures(rule), urls: 'bbbbbbbb' }, nothing, rule],
    ['enough attempts are counted, and the time is not over', failing(71.9), failed(5), rule],
    ['nothing has failed after the time', failing(100), nothing, rule],
    ['a success before the failure', failing(10), { ...nothing, resetAt: ago(11) }, rule],
    ['no key of lifecycle', undefined, failed(50), { ...rule, disableAfter: undefined }],
    ['a 410 without onGone: disable', undefined, { ...nothing, gone: ['a', 'b'], lastAt: now }, rule],
    ['only onGone, and other failures', undefined, failed(50), onGone],
    ['it is disabled already', disabled(1), failed(50), rule],
    ['a success after it was disabled', disabled(1), { ...nothing, resetAt: ago(0.5) }, rule],
    ['a success before the failure that disabled it', disabled(1), { ...nothing, resetAt: ago(80) }, rule],
  ])('%s', (_, known, seen, given) => {
    expect(judgeFailures(known, seen, given, now)).toEqual({ kind: 'keep' })
  })
})

describe('waits with the first failure', () => {
  it.each<[string, SeenFailures, DisableRule, Verdict['kind']]>([
    ['shortly after a success', { ...failed(50), resetAt: secondsAgo(59) }, rule, 'wait'],
    ['a minute after a success', { ...failed(50), resetAt: secondsAgo(60) }, rule, 'write'],
    ['after a tenth of disableAfter', { ...failed(50), resetAt: secondsAgo(1) }, tenSeconds, 'write'],
    ['before a tenth of disableAfter', { ...failed(50), resetAt: secondsAgo(0.9) }, tenSeconds, 'wait'],
    ['one of two webhooks that are gone', { ...gone, gone: ['b'] }, onGone, 'wait'],
    ['all webhooks that are gone', { ...gone, gone: ['a', 'b'] }, onGone, 'disable'],
  ])('%s', (_, seen, given, expected) => {
    expect(judgeFailures(undefined, seen, given, now).kind).toBe(expected)
  })
})

describe('writes', () => {
  it.each<[string, FailureState | undefined, SeenFailures, DisableRule, Partial<FailureState>]>([
    [
      'the first failure, with the time of the write',
      undefined,
      { ...failed(30), firstAt: ago(1), lastAt: ago(1) },
      rule,
      { failingSince: now, attempts: 0 },
    ],
    ['further attempts', failing(10, 3), failed(4), rule, { failingSince: ago(10), attempts: 7 }],
    ['at most the attempts that are needed', failing(10, 3), failed(400), rule, { attempts: minAttempts }],
    [
      'no attempt that may be older than the failure',
      failing(1, 3),
      { ...failed(4), firstAt: ago(2), gone: ['a'] },
      { ...rule, onGone: 'disable' },
      { attempts: 3, gone: ['a'] },
    ],
    [
      'the end by a success',
      failing(10),
      { ...nothing, resetAt: ago(9) },
      rule,
      { failingSince: undefined, attempts: 0 },
    ],
    [
      'the end by a success, and failures after it',
      failing(100),
      { ...failed(50), resetAt: ago(1) },
      rule,
      { failingSince: now, attempts: 50 > minAttempts ? minAttempts : 50 },
    ],
    [
      'the end by other URLs',
      failing(100),
      nothing,
      { ...rule, urls: 'bbbbbbbb' },
      { urls: 'bbbbbbbb', failingSince: undefined },
    ],
    [
      'a failure of other URLs',
      failing(100),
      failed(50),
      { ...rule, urls: 'bbbbbbbb' },
      { urls: 'bbbbbbbb', failingSince: now },
    ],
    ['that other URLs are not disabled', disabled(1), nothing, { ...rule, urls: 'bbbbbbbb' }, { disabled: undefined }],
    [
      'a success that was reported too late',
      disabled(1),
      { ...nothing, resetAt: ago(2) },
      rule,
      { failingSince: undefined, disabled: undefined },
    ],
    [
      'one of two webhooks that are gone',
      undefined,
      { ...nothing, gone: ['b'], firstAt: now, lastAt: now },
      onGone,
      { failingSince: now, gone: ['b'] },
    ],
  ])('%s', (_, known, seen, given, expected) => {
    expect(judgeFailures(known, seen, given, now)).toMatchObject({ kind: 'write', state: expected })
  })
})

describe('disables', () => {
  it.each<[string, FailureState | undefined, SeenFailures, DisableRule, FailureState['disabled']]>([
    [
      'after the time and the attempts',
      failing(72),
      failed(1),
      rule,
      { at: now, reason: 'failing', failingSince: ago(72) },
    ],
    [
      'with the attempt that completes the number',
      failing(80, 19),
      failed(1),
      rule,
      { at: now, reason: 'failing', failingSince: ago(80) },
    ],
    [
      'when the last webhook is gone',
      { ...failing(5, 0), gone: ['a'] },
      { ...nothing, gone: ['b'], firstAt: now, lastAt: now },
      onGone,
      { at: now, reason: 'gone', failingSince: ago(5) },
    ],
    [
      'when all webhooks are gone',
      undefined,
      { ...nothing, gone: ['a', 'b'], firstAt: now, lastAt: now },
      onGone,
      { at: now, reason: 'gone', failingSince: now },
    ],
  ])('%s', (_, known, seen, given, expected) => {
    const verdict = judgeFailures(known, seen, given, now)
    expect(verdict).toMatchObject({ kind: 'disable', disabled: expected, state: { disabled: expected, version: 3 } })
  })

  it('a destination only after the minimum number of attempts, however long it fails', () => {
    expect(judgeFailures(failing(1_000, 18), failed(1), rule, now)).toMatchObject({
      kind: 'write',
      state: { attempts: 19 },
    })
  })
})

it('the URLs of a destination are compared without their order', () => {
  const webhooks = ['bbbbbbbb', 'aaaaaaaa'].map(urlHash => ({ ...webhook, urlHash }))
  expect(urlHashesOf({ webhooks })).toBe('aaaaaaaa,bbbbbbbb')
  expect(webhooks[0]?.urlHash).toBe('bbbbbbbb')
  expect(urlHashesOf({ webhooks: [] })).toBe('')
})

it.each([
  [{}, false],
  [{ lifecycle: { onGone: 'notify' } }, false],
  [{ lifecycle: { onGone: 'disable' } }, true],
  [{ lifecycle: { disableAfter: durationMs(1) } }, true],
] as const)('%j: failures can disable the destination: %s', (destination, expected) => {
  expect(isWatched(destination)).toBe(expected)
})

const webhook = { label: '0', url: 'https://a.example', headers: {}, traceHeaders: false }
