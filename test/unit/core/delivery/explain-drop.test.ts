import { expect, it } from '@jest/globals'
import { explainDrop } from '../../../../src/core/delivery/explain-drop.ts'
import { createRouting } from '../../../../src/core/delivery/route.ts'
import { destinationOf, eventOf, sourceOf, start } from '../../../support/builders.ts'

const explained = (given: Parameters<typeof destinationOf>[0]) => {
  const destination = destinationOf(given)
  return explainDrop(destination, eventOf(), createRouting({ sources: [sourceOf('web')], destinations: [destination] }))
}

it('explains nothing when the destination gets the event, even if it is paused', () => {
  expect(explained({ paused: true })).toBeUndefined()
})

it('says whether an operator or Hookline itself has disabled the destination', () => {
  expect(explained({ enabled: false })?.text).toContain("its key 'enabled' is false")
  const disabledAutomatically = { at: start, reason: 'gone', failingSince: start } as const
  expect(explained({ enabled: false, disabledAutomatically })?.text).toContain('Hookline has disabled it automatically')
})
