import { describe, expect, it } from '@jest/globals'
import { createSampleMessages, type SampleOptions } from '../../../../../src/app/commands/produce/sample-messages.ts'
import { callTypes } from '../../../../../src/core/message/message.ts'
import { normalise } from '../../../../../src/core/message/normalise.ts'
import { epochMs } from '../../../../../src/core/time.ts'

function samples(count: number, options: Partial<SampleOptions> = {}) {
  const next = createSampleMessages({ seed: 7, types: callTypes, users: 100, ...options })
  return Array.from({ length: count }, next)
}
const reception = { receivedAt: epochMs(1), sentAt: undefined, newId: () => 'none' }

describe('sample messages', () => {
  it('begin with one of each type', () => {
    expect(samples(6).map(({ type }) => type)).toEqual([...callTypes])
  })

  it('continue with all types, mostly track and page', () => {
    const types = samples(1_000).map(({ type }) => type)
    const share = (type: string) => types.filter(each => each === type).length
    expect(share('track')).toBeGreaterThan(share('page'))
    expect(share('page')).toBeGreaterThan(share('identify'))
    for (const type of callTypes) expect(share(type)).toBeGreaterThan(3)
  })

  it('have only the requested types', () => {
    expect(new Set(samples(200, { types: ['group', 'alias'] }).map(({ type }) => type))).toEqual(
      new Set(['group', 'alias']),
    )
  })

  it('are all valid and have unique ids', () => {
    const outcomes = samples(2_000).map(sample => normalise(sample, reception))
    expect(outcomes.filter(({ kind }) => kind === 'rejected')).toEqual([])
    const ids = outcomes.map(outcome => outcome.kind === 'message' && outcome.message.messageId)
    expect(new Set(ids).size).toBe(2_000)
  })

  it('have the requested number of users, some of them anonymous', () => {
    const all = samples(2_000, { users: 5 })
    expect(new Set(all.map(({ userId }) => userId)).size).toBe(6)
    expect(all.some(({ userId, anonymousId }) => userId === undefined && anonymousId !== undefined)).toBe(true)
  })

  it('are equal for equal seeds and differ for other seeds', () => {
    expect(samples(50)).toEqual(samples(50))
    expect(samples(50, { seed: 8 })).not.toEqual(samples(50))
  })
})
