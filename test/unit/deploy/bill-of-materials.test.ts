import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { billOfMaterials, type LockedPackage, type Lockfile } from '../../../deploy/tools/image/bill-of-materials.ts'

const checkout = resolve(import.meta.dirname, '../../..')
const json = (file: string) => JSON.parse(readFileSync(resolve(checkout, file), 'utf8'))

describe('the bill of materials of Hookline', () => {
  const lockfile = json('package-lock.json') as Lockfile
  const { metadata, components, dependencies } = billOfMaterials(lockfile)

  it('is of the project', () => {
    expect(metadata.component).toMatchObject({
      name: 'hookline',
      type: 'application',
      version: json('package.json').version,
    })
  })

  it('contains all dependencies of package.json, and no development package', () => {
    const { dependencies: direct } = json('package.json')
    const names = components.map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining(Object.keys(direct)))
    // Only these are checked, because other development packages are also used at runtime.
    expect(
      names.filter(name => ['jest', 'typescript', 'testcontainers', '@biomejs/biome', 'node'].includes(name)),
    ).toEqual([])
  })

  it('has a hash of each package, and its licence where the package names one', () => {
    expect(
      components.filter(({ hashes }) => !/^[0-9a-f]{128}$/.test(hashes?.[0]?.content ?? '')).map(({ name }) => name),
    ).toEqual([])
    expect(components.filter(({ licenses }) => licenses === undefined).map(({ name }) => name)).toEqual([])
  })

  it('connects the project to every package', () => {
    const byRef = new Map(dependencies.map(({ ref, dependsOn }) => [ref, dependsOn]))
    const reached = new Set<string>()
    const follow = (ref: string): void => {
      if (reached.has(ref)) return
      reached.add(ref)
      for (const each of byRef.get(ref) ?? []) follow(each)
    }
    follow(metadata.component['bom-ref'])
    expect(components.filter(each => !reached.has(each['bom-ref'])).map(({ name }) => name)).toEqual([])
  })
})

describe('the bill of materials of a lockfile', () => {
  const of = (packages: Record<string, Partial<LockedPackage>>) =>
    billOfMaterials({ packages: { '': { name: 'p', version: '1.0.0' }, ...packages } } as unknown as Lockfile)
  const versions = (bom: ReturnType<typeof of>) => bom.components.map(({ name, version }) => `${name}@${version}`)

  it('two versions of a package are two components, each with its own dependents', () => {
    const bom = of({
      '': { name: 'p', version: '1.0.0', dependencies: { a: '1', b: '1' } },
      'node_modules/a': { version: '1.0.0' },
      'node_modules/b': { version: '1.0.0', dependencies: { a: '2' } },
      'node_modules/b/node_modules/a': { version: '2.0.0' },
    })
    expect(versions(bom)).toEqual(['a@1.0.0', 'b@1.0.0', 'a@2.0.0'])
    expect(bom.dependencies).toEqual([
      { ref: 'pkg:npm/p@1.0.0', dependsOn: ['pkg:npm/a@1.0.0', 'pkg:npm/b@1.0.0'] },
      { ref: 'pkg:npm/a@1.0.0', dependsOn: [] },
      { ref: 'pkg:npm/b@1.0.0', dependsOn: ['pkg:npm/a@2.0.0'] },
      { ref: 'pkg:npm/a@2.0.0', dependsOn: [] },
    ])
  })

  it('lists the same version in two places once', () => {
    const bom = of({
      'node_modules/a': { version: '1.0.0' },
      'node_modules/b/node_modules/a': { version: '1.0.0' },
      'node_modules/b': { version: '1.0.0' },
    })
    expect(versions(bom)).toEqual(['a@1.0.0', 'b@1.0.0'])
  })

  it('contains a package although a development package uses another version', () => {
    const bom = of({
      'node_modules/a': { version: '2.0.0' },
      'node_modules/t': { version: '1.0.0', dev: true },
      'node_modules/t/node_modules/a': { version: '1.0.0', dev: true },
    })
    expect(versions(bom)).toEqual(['a@2.0.0'])
  })

  it('omits packages of this repository', () => {
    const bom = of({
      'node_modules/@p/client': { link: true },
      'node_modules/a': { version: '1.0.0' },
      'packages/client': { name: '@p/client', version: '1.0.0' },
    })
    expect(versions(bom)).toEqual(['a@1.0.0'])
  })

  it('omits a dependency for another operating system', () => {
    const bom = of({ '': { name: 'p', version: '1.0.0', optionalDependencies: { other: '1' } } })
    expect(bom.dependencies).toEqual([{ ref: 'pkg:npm/p@1.0.0', dependsOn: [] }])
  })

  it.each([
    ['MIT', { license: { id: 'MIT' } }],
    ['(MIT OR Apache-2.0)', { expression: '(MIT OR Apache-2.0)' }],
  ])('licence %s', (license, shown) => {
    expect(of({ 'node_modules/@s/a': { version: '1.0.0', license } }).components).toMatchObject([
      { name: '@s/a', purl: 'pkg:npm/%40s/a@1.0.0', licenses: [shown] },
    ])
  })

  it('rejects a lockfile without a project', () => {
    expect(() => billOfMaterials({ packages: {} })).toThrow('package-lock.json contains no project')
  })
})
