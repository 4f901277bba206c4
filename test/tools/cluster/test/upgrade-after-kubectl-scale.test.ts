import { describe, expect, it } from '@jest/globals'
import type { DeployPage } from '../deploy-page-commands.ts'
import { upgradeAfterScaling } from '../scale-scenario.ts'

function installation(error?: string) {
  const commands: string[] = []
  return {
    commands,
    page: { install: 'helm upgrade --install hookline\n' } as DeployPage,
    upgrade: async () => {
      if (error !== undefined) throw new Error(error)
    },
    shell: async (command: string) => {
      commands.push(command)
      return ''
    },
  }
}

describe('an upgrade after kubectl has changed the number of pods', () => {
  it('is repeated with --force-conflicts when Helm names the conflict', async () => {
    const on = installation('conflict with "kubectl" with subresource "scale" using apps/v1: .spec.replicas')
    await upgradeAfterScaling(on)
    expect(on.commands).toEqual(['helm upgrade --install hookline --force-conflicts'])
  })

  it('is not repeated when Helm accepts it', async () => {
    const on = installation()
    expect(await upgradeAfterScaling(on)).toBe('`helm upgrade` restored the numbers')
    expect(on.commands).toEqual([])
  })

  it('fails when Helm fails for another reason', () =>
    expect(upgradeAfterScaling(installation('the API server is away'))).rejects.toThrow('does not name the conflict'))
})
