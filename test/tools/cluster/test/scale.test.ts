import { describe, expect, it } from '@jest/globals'
import { upgradeAfterScaling } from '../scale.ts'

/** An installation whose `helm upgrade` fails with `error`. It records the options of the upgrades. */
function installation(error?: string) {
  const upgrades: string[] = []
  return {
    upgrades,
    upgrade: async (_change: unknown, _chart?: string, options = '') => {
      upgrades.push(options)
      if (error !== undefined && options === '') throw new Error(error)
    },
  }
}

describe('an upgrade after kubectl has changed the number of pods', () => {
  it('is repeated with --force-conflicts when Helm names the conflict', async () => {
    const on = installation('conflict with "kubectl" with subresource "scale" using apps/v1: .spec.replicas')
    await upgradeAfterScaling(on)
    expect(on.upgrades).toEqual(['', '--force-conflicts'])
  })

  it('is not repeated when Helm accepts it', async () => {
    const on = installation()
    expect(await upgradeAfterScaling(on)).toBe('`helm upgrade` restored the numbers')
    expect(on.upgrades).toEqual([''])
  })

  it('fails when Helm fails for another reason', () =>
    expect(upgradeAfterScaling(installation('the API server is away'))).rejects.toThrow('does not name the conflict'))
})
