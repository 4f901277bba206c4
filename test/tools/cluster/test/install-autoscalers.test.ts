import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { targetOf } from '../built-programs.ts'
import { keda, metricsServer } from '../download-go-module.ts'
import { apply, runs } from '../install-autoscalers.ts'

const goMod = await readFile(join(import.meta.dirname, '../go/autoscalers/go.mod'), 'utf8')

describe('the autoscalers', () => {
  it.each([keda, metricsServer])('are built in the version of the manifests: %s', module => {
    expect(goMod).toContain(module.replace('@', ' '))
  })

  it('are built as the tools of their go.mod', () => {
    expect(targetOf(goMod, '/cache/autoscalers')).toEqual(['-o', '/cache/autoscalers/', 'tool'])
    expect(targetOf('module x\n\ntool example.com/x\n', '/cache/x')).toEqual(['-o', '/cache/x', 'tool'])
    expect(targetOf('module pause\n', '/cache/pause')).toEqual(['-o', '/cache/pause', '.'])
  })

  it.each([
    ['cannot be applied', 'kubectl apply'],
    ['do not become ready', 'rollout status'],
  ])('are removed if they %s', async (_, failing) => {
    const directory = await mkdtemp(join(tmpdir(), 'hookline-test-'))
    const commands: string[] = []
    const shell = async (command: string) => {
      commands.push(command)
      if (command.includes(failing)) throw new Error('no connection')
      return ''
    }
    try {
      const waits = ['kubectl rollout status deployment/keda-operator']
      await expect(apply(shell, directory, { namespace: 'keda', resources: [], patches: [], waits })).rejects.toThrow(
        'no connection',
      )
      expect(commands.at(-1)).toMatch(/^kubectl delete .*--kustomize/)
    } finally {
      await rm(directory, { recursive: true })
    }
  })

  it('run from a directory of this machine, in an image without files', () => {
    const patch = runs({ namespace: 'keda', name: 'keda-operator', programs: '/cache', program: 'operator', args: [] })
    expect(patch).toMatchObject({
      metadata: { namespace: 'keda', name: 'keda-operator' },
      spec: {
        template: {
          spec: {
            containers: [{ name: 'keda-operator', image: 'hookline.test/empty:1', command: ['/programs/operator'] }],
            volumes: [{ name: 'programs', hostPath: { path: '/cache' } }],
          },
        },
      },
    })
  })
})
