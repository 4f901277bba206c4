import { expect, it } from '@jest/globals'
import { type AudienceWatermark, emptyWatermark } from '../../../src/core/audience/audience-watermark.ts'
import { type Membership, type MembershipInput, step } from '../../../src/core/audience/membership.ts'
import { syncId } from '../../../src/core/audience/sync-id.ts'
import type { JsonText } from '../../../src/core/message/canonical-json-text.ts'
import { epochMs } from '../../../src/core/time.ts'
import { duration } from '../builders.ts'

/**
 * The result of `tell`: the last state of the membership, and the result of `step` for each input.
 */
export interface Told {
  readonly state: Membership | undefined
  readonly lines: readonly string[]
}

/**
 * Runs a story of one membership: words with commas between them. Returns the results of `step`.
 * - `10 true`: sync 10 contains the value true. `end 20`: full sync 20 ends.
 * - `ok 11 true`, `lost 11 true`: the change with version 11 and value true was delivered, or not.
 * - `resend`, `reset`, `forget`: the input of this name.
 * - `raise 20/7`: syncs up to 20 are closed, and no removed membership had a version above 7.
 * - `again …`: this input has the offset of the previous one. `wait 5h`: time passes.
 * - `off`, `on`: the destination leaves or joins the audience's list.
 * - `disabled`, `removed`: the destination is disabled, or not configured.
 */
export function tell(story: string, absent = 'false'): Told {
  let state: Membership | undefined
  let watermark: AudienceWatermark = emptyWatermark
  let [position, time, isConnected, isListed, isRemoved] = [0, 0, true, true, false]
  const lines = story.split(',').map(text => {
    const words = text.trim().split(' ')
    const isAgain = words[0] === 'again' && words.shift() !== undefined
    const [word = '', first = '', second = ''] = words
    if (word === 'wait') time += duration(first)
    if (word === 'on' || word === 'off') [isConnected, isListed] = [word === 'on', word === 'on']
    if (word === 'disabled') isConnected = false
    if (word === 'removed') [isConnected, isListed, isRemoved] = [false, false, true]
    if (word === 'raise') watermark = watermarkOf(first)
    const input = inputOf(word, first, second)
    if (input === undefined) return ''
    if (!isAgain) position++
    const result = step(state, input, {
      position,
      at: epochMs(time),
      now: epochMs(time),
      absent: absent as JsonText,
      watermark,
      isConnected,
      isListed,
      isRemoved,
    })
    if (result.kind === 'unchanged') return '-'
    state = result.kind === 'changed' ? result.state : undefined
    if (result.kind === 'removed') return 'gone'
    return result.update === undefined ? 'kept' : `sends ${result.update.value} ${result.update.version}`
  })
  return { state, lines: lines.filter(Boolean) }
}

function inputOf(word: string, first: string, second: string): MembershipInput | undefined {
  switch (word) {
    case 'wait':
    case 'on':
    case 'off':
    case 'disabled':
    case 'removed':
      return undefined
    case 'end':
      return { kind: 'sync_ended', syncId: syncId(Number(first)) }
    case 'ok':
    case 'lost': {
      const result = word === 'ok' ? 'delivered' : 'undelivered'
      return { kind: 'outcome', version: Number(first), value: second as JsonText, result }
    }
    case 'resend':
    case 'reset':
      return { kind: word }
    case 'raise':
      return { kind: 'watermark_raised' }
    case 'forget':
      return { kind: 'forgotten' }
    default:
      return { kind: 'observed', syncId: syncId(Number(word)), value: first as JsonText }
  }
}

function watermarkOf(text: string): AudienceWatermark {
  const [closedUpTo, versionFloor = closedUpTo] = text.split('/').map(Number)
  return { ...emptyWatermark, closedUpTo: syncId(closedUpTo ?? 0), versionFloor: versionFloor ?? 0 }
}

/**
 * Declares one test per story (see `tell`). `answers`: the expected `lines` of the result, with
 * commas between them.
 */
export const stories = (rows: readonly (readonly [reason: string, story: string, answers: string])[]): void => {
  it.each(rows)('%s: %s', (_reason, story, answers) => {
    expect(tell(story).lines.join(', ')).toBe(answers)
  })
}
