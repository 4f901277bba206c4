import { describe, expect, it } from '@jest/globals'
import { lackingForCluster } from '../requirements.ts'

describe('the requirements of the cluster', () => {
  const root = { platform: 'linux', uid: 0 }

  it('are met by root on Linux with all programs', async () =>
    expect(await lackingForCluster(root, async () => true)).toEqual([]))

  it('are listed together', async () =>
    expect(await lackingForCluster({ platform: 'darwin', uid: 501 }, async name => name !== 'go')).toEqual([
      'Linux',
      'root, because the node has its own namespaces',
      'Go 1.26 or newer, which builds Kubernetes',
    ]))
})
