import { createHash } from 'node:crypto'

/** Parts of package-lock.json, version 3. A key is a path below the root. `''` is the project. */
export interface Lockfile {
  readonly packages: Readonly<Record<string, LockedPackage>>
}

export interface LockedPackage {
  readonly name?: string
  readonly version: string
  readonly integrity?: string
  readonly license?: string
  readonly dev?: boolean
  /** Whether the entry is a link in `node_modules/` to a package of this repository. */
  readonly link?: boolean
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

export interface Component {
  readonly type: 'application' | 'library'
  readonly 'bom-ref': string
  readonly name: string
  readonly version: string
  readonly purl: string
  readonly hashes?: readonly { readonly alg: string; readonly content: string }[]
  readonly licenses?: readonly ({ readonly expression: string } | { readonly license: { readonly id: string } })[]
}

/**
 * The CycloneDX 1.5 document of all installed packages. The same lockfile must give the same bytes.
 * `npm sbom` would omit a package if a development package uses another version of it.
 */
export function billOfMaterials({ packages }: Lockfile) {
  const installed = Object.entries(packages).filter(([path, { dev, link }]) => isThirdParty(path) && !dev && !link)
  const components = new Map(installed.map(([path, locked]) => [path, componentOf(nameOf(path, locked), locked)]))
  const [root] = Object.entries(packages).filter(([path]) => path === '')
  if (root === undefined) throw new Error('package-lock.json contains no project')
  const project = { ...componentOf(nameOf(...root), root[1]), type: 'application' as const }
  const dependencies = [root, ...installed].map(([path, locked]) => ({
    ref: (components.get(path) ?? project)['bom-ref'],
    dependsOn: dependenciesOf(path, locked, components),
  }))
  const listed = unique([...components.values()], each => each['bom-ref'])
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.5.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    serialNumber: `urn:uuid:${identifier(JSON.stringify([listed, dependencies]))}`,
    version: 1,
    metadata: { component: project },
    components: listed,
    dependencies: unique(dependencies, each => each.ref),
  }
}

/** Whether a path is a package from npm, and not a package of this repository. */
const isThirdParty = (path: string): boolean => path.startsWith('node_modules/')

const nameOf = (path: string, { name }: LockedPackage): string =>
  name ?? path.slice(path.lastIndexOf('node_modules/') + 13)

function componentOf(name: string, { version, integrity, license }: LockedPackage): Component {
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`
  return {
    type: 'library',
    'bom-ref': purl,
    name,
    version,
    purl,
    ...(integrity !== undefined && { hashes: integrity.split(' ').map(hashOf) }),
    ...(license !== undefined && {
      licenses: [/[ ()]/.test(license) ? { expression: license } : { license: { id: license } }],
    }),
  }
}

/** Converts `sha512-<base64>` to its CycloneDX form. */
function hashOf(integrity: string): { alg: string; content: string } {
  const [algorithm = '', encoded = ''] = integrity.split(/-(.*)/s)
  return { alg: algorithm.replace('sha', 'SHA-'), content: Buffer.from(encoded, 'base64').toString('hex') }
}

/** Resolves dependencies as Node does: from the package's own directory upwards. */
function dependenciesOf(path: string, locked: LockedPackage, components: ReadonlyMap<string, Component>): string[] {
  const names = Object.keys({ ...locked.dependencies, ...locked.optionalDependencies })
  return names.flatMap(name => {
    for (let folder = path; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))) {
      const found = components.get(`${folder === '' ? '' : `${folder}/`}node_modules/${name}`)
      if (found !== undefined) return [found['bom-ref']]
      // The package is not installed: it is an optional dependency for another platform.
      if (folder === '') return []
    }
  })
}

const unique = <T>(list: readonly T[], key: (each: T) => string): T[] => [
  ...new Map(list.map(each => [key(each), each])).values(),
]

/** Derives a UUID from a text. It has the form of version 5. */
const identifier = (text: string): string =>
  createHash('sha256')
    .update(text)
    .digest('hex')
    .replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*/, '$1-$2-5$3-8$4-$5')
