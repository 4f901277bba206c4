import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, relative, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import dockerignore from '@balena/dockerignore'
import {
  type Copy,
  DockerfileParser,
  type From,
  type Instruction,
  type JSONInstruction,
  type PropertyInstruction,
} from 'dockerfile-ast'
import { enclosed } from './linux-namespaces.ts'
import { type Base, buildBase, runtimeBase } from './local-base-images.ts'

export interface Image extends Base {
  readonly workdir: string
  readonly user: string
  readonly entrypoint: readonly string[]
  readonly command: readonly string[]
  readonly labels: ReadonlyMap<string, string>
  readonly ports: readonly string[]
  close(): Promise<void>
}

const repository = resolve(import.meta.dirname, '../../../..')
const bases = new Map<string, (root: string) => Base>([
  ['scratch/build', buildBase],
  ['scratch/runtime', runtimeBase],
])

/**
 * Executes deploy/image/Dockerfile without a container engine. Each build stage is a directory.
 * @throws when a command fails, with its output
 */
export async function buildImage(
  buildArguments: Readonly<Record<string, string>> = {},
  context = repository,
): Promise<Image> {
  const given = new Map(
    Object.entries({ BUILD_IMAGE: 'scratch/build', RUNTIME_IMAGE: 'scratch/runtime', ...buildArguments }),
  )
  const work = mkdtempSync(join(tmpdir(), 'hookline-image-'))
  const close = async (): Promise<void> => rmSync(work, { recursive: true, force: true })
  try {
    const built = new Map<string, Stage>()
    let stage: Stage | undefined
    for (const instruction of DockerfileParser.parse(read(context, 'deploy/image/Dockerfile')).getInstructions()) {
      if (instruction.getKeyword() === 'FROM') {
        const from = instruction as From
        const name = from.getBuildStage() ?? String(built.size)
        stage = newStage(join(work, name), substituted(from.getImage() ?? '', given))
        built.set(name, stage)
      } else if (stage !== undefined) await carryOut(instruction, stage, { context, given, built })
    }
    if (stage === undefined) throw new Error('the Dockerfile has no stage')
    return { ...stage, close }
  } catch (error) {
    await close()
    throw error
  }
}

const read = (context: string, file: string): string => readFileSync(join(context, file), 'utf8')

type Changeable<T> = { -readonly [K in keyof T]: T[K] }
interface Stage extends Changeable<Omit<Image, 'close' | 'labels' | 'environment'>> {
  readonly labels: Map<string, string>
  readonly args: Map<string, string>
  readonly environment: Record<string, string>
}

function newStage(root: string, baseImage: string): Stage {
  mkdirSync(root)
  const base = bases.get(baseImage)?.(root)
  if (base === undefined) throw new Error(`there is no base image ${baseImage}`)
  const start = { user: '0', workdir: '/', entrypoint: [], command: [], ports: [] }
  return { ...base, ...start, labels: new Map(), args: new Map(), environment: { ...base.environment } }
}

/**
 * Replaces `${NAME}` and `$NAME`. Image builders do this in all instructions but RUN, CMD and
 * ENTRYPOINT.
 */
const substituted = (template: string, variables: ReadonlyMap<string, string>): string =>
  template.replace(/\$(?:\{(\w+)\}|(\w+))/g, (_, braced?: string, bare?: string) => {
    return variables.get(braced ?? bare ?? '') ?? ''
  })

interface BuildContext {
  readonly context: string
  readonly given: ReadonlyMap<string, string>
  readonly built: ReadonlyMap<string, Stage>
}

async function carryOut(
  instruction: Instruction,
  stage: Stage,
  { context, given, built }: BuildContext,
): Promise<void> {
  const put = (value: string): string =>
    substituted(value, new Map([...stage.args, ...Object.entries(stage.environment)]))
  const words = instruction.getArguments().map(argument => put(argument.getValue()))
  const content = instruction.getArgumentsContent() ?? ''
  const pairs = (): readonly (readonly [string, string])[] =>
    (instruction as PropertyInstruction).getProperties().map(each => [each.getName(), put(each.getValue() ?? '')])
  const json = (): string[] => (instruction as JSONInstruction).getJSONStrings().map(each => each.getJSONValue())
  switch (instruction.getKeyword()) {
    case 'ARG':
      for (const [name, value] of pairs()) stage.args.set(name, given.get(name) ?? value)
      return
    case 'ENV':
      Object.assign(stage.environment, Object.fromEntries(pairs()))
      return
    case 'LABEL':
      for (const [name, value] of pairs()) stage.labels.set(name, value)
      return
    case 'RUN':
      return run({ ...stage, environment: { ...Object.fromEntries(stage.args), ...stage.environment } }, content)
    case 'COPY':
      return copy(
        { from: built.get((instruction as Copy).getFromFlag()?.getValue() ?? '')?.root, context },
        words,
        stage,
      )
    case 'WORKDIR':
      stage.workdir = resolve(stage.workdir, words[0] ?? '')
      mkdirSync(join(stage.root, stage.workdir), { recursive: true })
      return
    case 'USER':
      stage.user = words[0] ?? ''
      return
    case 'EXPOSE':
      stage.ports = [...stage.ports, ...words]
      return
    case 'ENTRYPOINT':
      stage.entrypoint = json()
      return
    case 'CMD':
      stage.command = json()
      return
    default:
      throw new Error(`this build does not know the instruction ${instruction.getKeyword()}`)
  }
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

interface CopySource {
  /** The root of another stage. Undefined: the files come from the build context. */
  readonly from: string | undefined
  readonly context: string
}

/** Copies as COPY does. From the build context, copies only files that `.dockerignore` permits. */
function copy({ from, context }: CopySource, words: readonly string[], { root, workdir }: Stage): void {
  const [sources, target] = [words.slice(0, -1), words.at(-1) ?? '']
  // The package exports the function itself, although its types declare a default export.
  const ignore = dockerignore as unknown as typeof dockerignore.default
  const isIncluded = ignore().add(read(context, '.dockerignore')).createFilter()
  for (const source of sources) {
    const path = join(from ?? context, source)
    const isDirectory = statSync(path).isDirectory()
    const intoDirectory = target.endsWith('/') || sources.length > 1
    const to = join(root, resolve(workdir, target), intoDirectory && !isDirectory ? basename(path) : '')
    const filter = (each: string): boolean =>
      statSync(each, { throwIfNoEntry: false })?.isDirectory() || isIncluded(relative(context, each))
    if (from === undefined && !isDirectory && !isIncluded(source))
      throw new Error(`COPY ${source}: .dockerignore keeps it out`)
    cpSync(path, to, { recursive: true, verbatimSymlinks: true, ...(from === undefined && { filter }) })
  }
}
