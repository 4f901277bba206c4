import { describe, expect, it } from '@jest/globals'
import { requested } from '../environment-variables.ts'

describe('the variables of make chaos', () => {
  it.each([
    ['a soak of two hours', { ONLY: 'soak', PUBLISH: '1' }],
    ['a longer soak', { ONLY: 'soak', PUBLISH: '1', MINUTES: '240' }],
    ['a shorter soak that is not published', { ONLY: 'soak', MINUTES: '30' }],
    ['another scenario', { ONLY: 'endpoint-outage', PUBLISH: '1', MINUTES: '10' }],
  ])('permit %s', (_, env) => expect(requested(env).isPublic).toBe('PUBLISH' in env))

  it('refuse to publish a soak of less than two hours', () =>
    expect(() => requested({ ONLY: 'killed,soak', PUBLISH: '1', MINUTES: '119' })).toThrow(
      'PUBLISH needs a soak of at least 120 minutes: remove MINUTES or PUBLISH',
    ))
})
