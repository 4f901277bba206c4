import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, relative, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { type Base, buildBase, runtimeBase } from './bases.ts'
import { includedBy, parseDockerfile, type Stage, substituted } from './dockerfile.ts'
import { enclosed } from './name-spaces.ts'

/** What an engine would store: a file system, and how to start it. */
export interface Image extends Base {
  readonly workdir: string
  readonly user: string
  /** Entry point and command. */
  readonly entrypoint: readonly string[]
  readonly command: readonly string[]
  readonly labels: ReadonlyMap<string, string>
  readonly ports: readonly string[]
  close(): Promise<void>
}

const context = resolve(import.meta.dirname, '../../..')
const read = (file: string): string => readFileSync(join(context, file), 'utf8')
/** Named as base images of the build; made of this machine. */
const bases: Readonly<Record<string, (root: string) => Base>> = {
  'scratch/build': buildBase,
  'scratch/runtime': runtimeBase,
}

/**
 * Carries out deploy/image/Dockerfile step by step in directories of its own, with what `.dockerignore` lets in.
 * @throws with what a command printed when it fails.
 */
export async function buildImage(buildArguments: Readonly<Record<string, string>> = {}): Promise<Image> {
  const { args, stages } = parseDockerfile(read('deploy/image/Dockerfile'))
  const given = new Map(
    Object.entries({ BUILD_IMAGE: 'scratch/build', RUNTIME_IMAGE: 'scratch/runtime', ...buildArguments }),
  )
  const global = new Map([...args].map(([name, value]) => [name, given.get(name) ?? value ?? '']))
  const work = mkdtempSync(join(tmpdir(), 'hookline-image-'))
  const close = async (): Promise<void> => rmSync(work, { recursive: true, force: true })
  try {
    const built = new Map<string, Omit<Image, 'close'>>()
    let last: Omit<Image, 'close'> | undefined
    for (const [index, stage] of stages.entries()) {
      const name = stage.name ?? String(index)
      const root = join(work, name)
      mkdirSync(root)
      const base = bases[substituted(stage.base, global)]
      if (base === undefined) throw new Error(`there is no base image ${stage.base}`)
      last = await carriedOut(stage, base(root), given, stageName => built.get(stageName)?.root)
      built.set(name, last)
    }
    if (last === undefined) throw new Error('the Dockerfile has no stage')
    return { ...last, close }
  } catch (error) {
    await close()
    throw error
  }
}

async function carriedOut(
  stage: Stage,
  base: Base,
  given: ReadonlyMap<string, string>,
  rootOf: (stage: string) => string | undefined,
): Promise<Omit<Image, 'close'>> {
  const { root, binds } = base
  const labels = new Map<string, string>()
  const args = new Map<string, string>()
  const environment: Record<string, string> = { ...base.environment }
  const image = {
    user: '0',
    workdir: '/',
    entrypoint: [] as readonly string[],
    command: [] as readonly string[],
    ports: [] as readonly string[],
  }
  const put = (value: string): string => substituted(value, new Map([...args, ...Object.entries(environment)]))
  for (const step of stage.steps) {
    switch (step.kind) {
      case 'arg':
        args.set(step.name, given.get(step.name) ?? put(step.value ?? ''))
        break
      case 'env':
        for (const [name, value] of step.pairs) environment[name] = put(value)
        break
      case 'label':
        for (const [name, value] of step.pairs) labels.set(name, put(value))
        break
      case 'run':
        await run(
          { root, binds, environment: { ...Object.fromEntries(args), ...environment }, workdir: image.workdir },
          step.command,
        )
        break
      case 'copy':
        copy(
          step.from === undefined ? undefined : rootOf(step.from),
          step.sources,
          resolve(image.workdir, step.target),
          step.target.endsWith('/'),
          root,
        )
        break
      case 'workdir':
        image.workdir = resolve(image.workdir, put(step.value))
        mkdirSync(join(root, image.workdir), { recursive: true })
        break
      case 'user':
        image.user = put(step.value)
        break
      case 'expose':
        image.ports = [...image.ports, ...step.ports]
        break
      case 'entrypoint':
        image.entrypoint = step.words
        break
      case 'cmd':
        image.command = step.words
        break
    }
  }
  return { root, binds, environment, labels, ...image }
}

async function run(enclosure: Parameters<typeof enclosed>[0], command: string): Promise<void> {
  const child = enclosed(enclosure, ['/bin/sh', '-c', command])
  const [[code], printed, complaints] = await Promise.all([
    once(child, 'exit'),
    text(child.stdout!),
    text(child.stderr!),
  ])
  if (code !== 0) throw new Error(`RUN ${command} ended with ${code}\n${printed}${complaints}`)
}

/** As COPY does: a directory's content, or files into a directory. From the context only what `.dockerignore` lets in. */
function copy(
  from: string | undefined,
  sources: readonly string[],
  target: string,
  intoDirectory: boolean,
  root: string,
): void {
  const origin = from ?? context
  const isIncluded = includedBy(read('.dockerignore'))
  for (const source of sources) {
    const path = join(origin, source)
    const into = intoDirectory || sources.length > 1
    const to = join(root, target, into && !statSync(path).isDirectory() ? basename(path) : '')
    const filter = (each: string): boolean =>
      statSync(each, { throwIfNoEntry: false })?.isDirectory() || isIncluded(relative(context, each))
    if (from === undefined && !statSync(path).isDirectory() && !isIncluded(source))
      throw new Error(`COPY ${source}: .dockerignore keeps it out`)
    cpSync(path, to, { recursive: true, verbatimSymlinks: true, ...(from === undefined && { filter }) })
  }
}
