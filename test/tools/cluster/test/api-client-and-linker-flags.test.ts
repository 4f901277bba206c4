import { describe, expect, it } from '@jest/globals'
import { prefixOf, warningsIn } from '../api-client.ts'
import { versionSettings } from '../built-programs.ts'

describe('paths of the Kubernetes API', () => {
  it.each([
    ['v1', '/api/v1'],
    ['apps/v1', '/apis/apps/v1'],
    ['monitoring.coreos.com/v1', '/apis/monitoring.coreos.com/v1'],
  ])('%s', (apiVersion, path) => expect(prefixOf(apiVersion)).toBe(path))
})

describe('texts of Warning headers', () => {
  it.each([
    ['no header', undefined, []],
    ['one text', '299 - "would violate PodSecurity"', ['would violate PodSecurity']],
    ['two texts in one header', '299 - "a, b", 299 - "c"', ['a, b', 'c']],
    ['two headers', ['299 - "a"', '299 - "b"'], ['a', 'b']],
    ['quotation marks', '299 - "container \\"x\\" must"', ['container "x" must']],
  ])('%s', (_, header, texts) => expect(warningsIn(header)).toEqual(texts))
})

describe('linker flags', () => {
  it('set the version of Kubernetes in both packages that print it', () => {
    const settings = versionSettings('require (\n\tk8s.io/api v0.34.2\n\tk8s.io/kubernetes v1.34.2\n)')
    expect(settings.split(' -X ')).toEqual([
      '-X k8s.io/component-base/version.gitVersion=v1.34.2',
      ...['gitMajor=1', 'gitMinor=34', 'gitTreeState=clean'].map(each => `k8s.io/component-base/version.${each}`),
      ...['gitVersion=v1.34.2', 'gitMajor=1', 'gitMinor=34', 'gitTreeState=clean'].map(
        each => `k8s.io/client-go/pkg/version.${each}`,
      ),
    ])
  })

  it('are empty for a program without Kubernetes', () => expect(versionSettings('module pause\n\ngo 1.26.0')).toBe(''))
})
