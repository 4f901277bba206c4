import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { billOfMaterials, type LockedPackage, type Lockfile } from '../../../deploy/tools/image/bill-of-materials.ts'

const checkout = resolve(import.meta.dirname, '../../..')
const json = (file: string) => JSON.parse(readFileSync(resolve(checkout, file), 'utf8'))

describe('of our lockfile', () => {
  const lockfile = json('package-lock.json') as Lockfile
  const { metadata, components, dependencies } = billOfMaterials(lockfile)

  it('is of the project', () => {
    expect(metadata.component).toMatchObject({
      name: 'hookline',
      type: 'application',
      version: json('package.json').version,
    })
  })

  it('has all that package.json asks for, and no package of development', () => {
    const { dependencies: direct } = json('package.json')
    const names = components.map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining(Object.keys(direct)))
    // Some that we develop with are used by packages that run, too.
    expect(
      names.filter(name => ['jest', 'typescript', 'testcontainers', '@biomejs/biome', 'node'].includes(name)),
    ).toEqual([])
  })

  it('has a hash of each, and its licence where the package names one', () => {
    expect(
      components.filter(({ hashes }) => !/^[0-9a-f]{128}$/.test(hashes?.[0]?.content ?? '')).map(({ name }) => name),
    ).toEqual([])
    // It has a LICENSE file (MIT), but no such field.
    expect(components.filter(({ licenses }) => licenses === undefined).map(({ name }) => name)).toEqual([
      '@kafkajs/confluent-schema-registry',
    ])
  })

  it('leads from the project to every package', () => {
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

  it('is the same each time', () => {
    expect(billOfMaterials(lockfile)).toEqual(billOfMaterials(lockfile))
  })
})

describe('of a lockfile', () => {
  const of = (packages: Record<string, Partial<LockedPackage>>) =>
    billOfMaterials({ packages: { '': { name: 'p', version: '1.0.0' }, ...packages } } as unknown as Lockfile)
  const versions = (bom: ReturnType<typeof of>) => bom.components.map(({ name, version }) => `${name}@${version}`)

  it('two versions of a package are two components, and each user has its own', () => {
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

  it('the same version in two places is one component', () => {
    const bom = of({
      'node_modules/a': { version: '1.0.0' },
      'node_modules/b/node_modules/a': { version: '1.0.0' },
      'node_modules/b': { version: '1.0.0' },
    })
    expect(versions(bom)).toEqual(['a@1.0.0', 'b@1.0.0'])
  })

  it('a development package of another version does not hide one', () => {
    const bom = of({
      'node_modules/a': { version: '2.0.0' },
      'node_modules/t': { version: '1.0.0', dev: true },
      'node_modules/t/node_modules/a': { version: '1.0.0', dev: true },
    })
    expect(versions(bom)).toEqual(['a@2.0.0'])
  })

  it("the repository's own packages are not components", () => {
    const bom = of({
      'node_modules/@p/client': { link: true },
      'node_modules/a': { version: '1.0.0' },
      'packages/client': { name: '@p/client', version: '1.0.0' },
    })
    expect(versions(bom)).toEqual(['a@1.0.0'])
  })

  it('a package for another system is not depended on', () => {
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

  it('without a project is refused', () => {
    expect(() => billOfMaterials({ packages: {} })).toThrow('the lockfile names no project')
  })
})
