import { type Membership, type MembershipInput, step } from '../../../src/core/audience/membership.ts'
import { type AudienceMark, noMark, syncId } from '../../../src/core/audience/sync.ts'
import { durationMs, epochMs, type JsonText } from '../../../src/core/units.ts'
import { duration } from '../dispatcher/deliveries.ts'

/** What a line of a story says, and what then happens. */
export interface Told {
  readonly state: Membership | undefined
  readonly lines: readonly string[]
}

/**
 * Tells what becomes of one membership: each event in the words below → what `step` answers. Outcomes name a change by its version.
 * `10 true` sync 10 says true · `end 20` the full sync 20 ends · `ok 11 true`, `lost 11 true` it was delivered, or not · `resend` · `reset` ·
 * `sweep 20/7` syncs up to 20 are closed, versions up to 7 (or 20) · `forget` · `again …` the same offset once more · `wait 5h` · `off`, `on` the list ·
 * `removed` from the configuration.
 */
export function tell(story: string, absent = 'false'): Told {
  let state: Membership | undefined
  let mark: AudienceMark = noMark
  let [position, time, isConnected, isRemoved] = [0, 0, true, false]
  const lines = story.split(',').map(text => {
    const words = text.trim().split(' ')
    const isAgain = words[0] === 'again' && words.shift() !== undefined
    const [word = '', first = '', second = ''] = words
    if (word === 'wait') time += duration(first)
    if (word === 'on' || word === 'off') isConnected = word === 'on'
    if (word === 'removed') [isConnected, isRemoved] = [false, true]
    if (word === 'sweep') mark = markOf(first)
    const input = inputOf(word, first, second)
    if (input === undefined) return ''
    if (!isAgain) position++
    const result = step(state, input, {
      position,
      at: epochMs(time),
      now: epochMs(time),
      absent: absent as JsonText,
      mark,
      isConnected,
      isRemoved,
      expiry: durationMs(5 * 3_600_000),
    })
    if (result.kind === 'unchanged') return '-'
    state = result.kind === 'changed' ? result.state : undefined
    if (result.kind === 'removed') return 'gone'
    return result.emit === undefined ? 'kept' : `sends ${result.emit.value} ${result.emit.version}`
  })
  return { state, lines: lines.filter(Boolean) }
}

function inputOf(word: string, first: string, second: string): MembershipInput | undefined {
  switch (word) {
    case 'wait':
    case 'on':
    case 'off':
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
    case 'sweep':
      return { kind: 'swept' }
    case 'forget':
      return { kind: 'forgotten' }
    default:
      return { kind: 'observed', syncId: syncId(Number(word)), value: first as JsonText }
  }
}

function markOf(text: string): AudienceMark {
  const [closed, floor = closed] = text.split('/').map(Number)
  return { ...noMark, closed: syncId(closed ?? 0), floor: floor ?? 0 }
}
