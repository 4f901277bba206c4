/** The instructions that we use; everything else, and every flag that needs BuildKit, is refused. */
export type Step =
  | { readonly kind: 'arg'; readonly name: string; readonly value: string | undefined }
  | { readonly kind: 'env' | 'label'; readonly pairs: readonly (readonly [string, string])[] }
  | { readonly kind: 'run'; readonly command: string }
  | {
      readonly kind: 'copy'
      readonly from: string | undefined
      readonly sources: readonly string[]
      readonly target: string
    }
  | { readonly kind: 'workdir' | 'user'; readonly value: string }
  | { readonly kind: 'expose'; readonly ports: readonly string[] }
  | { readonly kind: 'entrypoint' | 'cmd'; readonly words: readonly string[] }

export interface Stage {
  readonly base: string
  readonly name: string | undefined
  readonly steps: readonly Step[]
}

export interface Dockerfile {
  /** Before the first FROM: what the names of base images may use. */
  readonly args: ReadonlyMap<string, string | undefined>
  readonly stages: readonly Stage[]
}

/** Reads a Dockerfile as the plain builder does. @throws with the line that only BuildKit understands, or nobody. */
export function parseDockerfile(text: string): Dockerfile {
  const args = new Map<string, string | undefined>()
  const stages: { base: string; name: string | undefined; steps: Step[] }[] = []
  for (const line of logicalLines(text)) {
    const [, word = '', rest = ''] = /^(\w+)\s+(.*)$/s.exec(line) ?? []
    const instruction = word.toUpperCase()
    if (instruction === 'FROM') {
      const [base = '', as, name, ...more] = rest.split(/\s+/)
      if (base.startsWith('--') || more.length > 0 || (as !== undefined && as.toUpperCase() !== 'AS')) refuse(line)
      stages.push({ base, name, steps: [] })
      continue
    }
    const step = stepOf(instruction, rest, line)
    const stage = stages.at(-1)
    if (stage !== undefined) stage.steps.push(step)
    else if (step.kind === 'arg') args.set(step.name, step.value)
    else refuse(line)
  }
  return { args, stages }
}

/** Without comments; what ends in a backslash goes on in the next line. */
function logicalLines(text: string): string[] {
  const lines = text.split('\n').filter(line => !/^\s*#/.test(line))
  return lines
    .join('\n')
    .replace(/\\\n\s*/g, '')
    .split('\n')
    .map(line => line.trim())
    .filter(Boolean)
}

function stepOf(instruction: string, rest: string, line: string): Step {
  switch (instruction) {
    case 'ARG': {
      const [, name = '', value] = /^(\w+)(?:=(.*))?$/.exec(rest) ?? refuse(line)
      return { kind: 'arg', name, value }
    }
    case 'ENV':
    case 'LABEL':
      return { kind: instruction === 'ENV' ? 'env' : 'label', pairs: pairsOf(rest) }
    case 'RUN':
      if (/^(--|<<|\[)/.test(rest)) refuse(line)
      return { kind: 'run', command: rest }
    case 'COPY': {
      const words = rest.split(/\s+/)
      const from = words[0]?.startsWith('--from=') ? words.shift()?.slice('--from='.length) : undefined
      if (words.some(word => word.startsWith('--') || word.startsWith('<<')) || words.length < 2) refuse(line)
      return { kind: 'copy', from, sources: words.slice(0, -1), target: words.at(-1) as string }
    }
    case 'WORKDIR':
    case 'USER':
      return { kind: instruction === 'USER' ? 'user' : 'workdir', value: rest }
    case 'EXPOSE':
      return { kind: 'expose', ports: rest.split(/\s+/) }
    case 'ENTRYPOINT':
    case 'CMD':
      // The other form runs a shell, which the runtime image does not have.
      if (!rest.startsWith('[')) refuse(line)
      return { kind: instruction === 'CMD' ? 'cmd' : 'entrypoint', words: JSON.parse(rest) as string[] }
    default:
      return refuse(line)
  }
}

const pairsOf = (text: string): (readonly [string, string])[] =>
  [...text.matchAll(/([\w.]+)=(?:"([^"]*)"|(\S*))/g)].map(([, name = '', quoted, bare]) => [name, quoted ?? bare ?? ''])

function refuse(line: string): never {
  throw new Error(`The plain builder does not understand: ${line}`)
}

/** A text with `${NAME}` and `$NAME` put in, as instructions other than RUN have it. */
export const substituted = (text: string, variables: ReadonlyMap<string, string>): string =>
  text.replace(
    /\$(?:\{(\w+)\}|(\w+))/g,
    (_, braced?: string, bare?: string) => variables.get(braced ?? bare ?? '') ?? '',
  )

/** Whether `.dockerignore` leaves a path of the context in. The last pattern that fits decides; one for a directory fits all in it. */
export function includedBy(ignoreFile: string): (path: string) => boolean {
  const rules = logicalLines(ignoreFile).map(line => ({
    keeps: line.startsWith('!'),
    fits: fitter(line.replace('!', '')),
  }))
  return path => rules.findLast(({ fits }) => fits(path))?.keeps ?? true
}

function fitter(pattern: string): (path: string) => boolean {
  const source = pattern.replace(/[.+^${}()|[\]\\]/g, '\\$&').replace(/\*\*\/?|\*|\?/g, found => {
    if (found.startsWith('**')) return '(?:.*/)?'
    return found === '*' ? '[^/]*' : '[^/]'
  })
  const regExp = new RegExp(`^${source}(?:/.*)?$`)
  return path => regExp.test(path)
}
