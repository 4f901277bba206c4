import { describe, expect, it } from '@jest/globals'
import type { JsonText } from '../../../../src/core/message/canonical-json-text.ts'
import { eventViewOf } from '../../../../src/core/operator/event-view.ts'
import { eventOf, messageOf } from '../../../support/builders.ts'

const nested = (levels: number): string => `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`

describe('the view of an event', () => {
  it.each<[string, string, unknown]>([
    ['JSON: as the value', '{"a":[1]}', { a: [1] }],
    ['invalid JSON: as text', '{bad', '{bad'],
    ['100 levels: as the value', nested(100), JSON.parse(nested(100))],
    ['101 levels: as text', nested(101), nested(101)],
    ['15,000 levels, with which JSON.stringify fails: as text', nested(15_000), nested(15_000)],
    [
      'a number beyond the range of doubles before these levels: as text',
      `[1e999,${nested(15_000)}]`,
      `[1e999,${nested(15_000)}]`,
    ],
  ])('shows properties with %s', (_, properties, expected) => {
    const view = eventViewOf(eventOf({ canonical: false, message: messageOf({ properties: properties as JsonText }) }))
    expect(view).toMatchObject({ message: { properties: expected } })
    expect(JSON.parse(JSON.stringify(view))).toMatchObject({ message: { properties: expected } })
  })
})
