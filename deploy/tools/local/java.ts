import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** What Kafka 4 and Apicurio 2.6 are compiled for. */
export const oldestJava = 17

export interface Java {
  readonly command: string
  readonly version: number
  /** Changes with every other build of Java: class archives fit only the one that made them. */
  readonly fingerprint: string
}

export type JavaSearch =
  | { readonly kind: 'found'; readonly java: Java }
  | { readonly kind: 'missing'; readonly why: string }

/** The feature release (17, 21; 8 for `1.8.0_381`) out of what `java -version` prints; undefined when it is no Java's answer. */
export function javaVersion(output: string): number | undefined {
  const match = /version "(?:1\.)?(\d+)/.exec(output)
  return match ? Number(match[1]) : undefined
}

/** The first Java that is new enough: `$JAVA_HOME/bin/java`, then `java` on the PATH. */
export async function findJava(env: NodeJS.ProcessEnv = process.env): Promise<JavaSearch> {
  const home = env['JAVA_HOME']
  const tooOld: string[] = []
  for (const command of home ? [join(home, 'bin', 'java'), 'java'] : ['java']) {
    const output = await versionOutput(command, env)
    const version = javaVersion(output)
    if (version === undefined) continue
    if (version >= oldestJava)
      return { kind: 'found', java: { command, version, fingerprint: fingerprint(command, output) } }
    tooOld.push(`${command} is Java ${version}`)
  }
  return { kind: 'missing', why: tooOld.length > 0 ? `${tooOld.join(', ')}, older than ${oldestJava}` : 'no Java' }
}

async function versionOutput(command: string, env: NodeJS.ProcessEnv): Promise<string> {
  try {
    const { stdout, stderr } = await run(command, ['-version'], { env, timeout: 20_000 })
    return stderr + stdout
  } catch {
    return ''
  }
}

const fingerprint = (command: string, output: string): string =>
  createHash('sha256').update(`${command}\n${output}`).digest('hex').slice(0, 12)

/** Quick to start rather than quick to run: the tests and a developer's machine start often and send little. */
export const javaFlags: readonly string[] = [
  '-Xms64m',
  '-Xmx256m',
  '-XX:+UseSerialGC',
  '-XX:TieredStopAtLevel=1',
  '-Xshare:auto',
  '-Djava.awt.headless=true',
]
