import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** The minimum Java version for Kafka 4 and Apicurio 2.6. */
export const oldestJava = 17

export interface Java {
  readonly command: string
  readonly version: number
  /** Identifies the build of Java: a class archive (AppCDS) works only with the same build. */
  readonly fingerprint: string
}

export type JavaSearch =
  | { readonly kind: 'found'; readonly java: Java }
  | { readonly kind: 'missing'; readonly why: string }

/** Parses the feature release (17, 21; 8 for `1.8.0_381`) from the output of `java -version`. */
export function javaVersion(output: string): number | undefined {
  const match = /version "(?:1\.)?(\d+)/.exec(output)
  return match ? Number(match[1]) : undefined
}

/** Finds a Java that is new enough: `$JAVA_HOME/bin/java`, or else `java` on the PATH. */
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
  return {
    kind: 'missing',
    why: tooOld.length > 0 ? `${tooOld.join(', ')}, which is older than Java ${oldestJava}` : 'no Java was found',
  }
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

/** JVM flags for a fast start instead of high throughput. */
export const javaFlags: readonly string[] = [
  '-Xms64m',
  '-Xmx256m',
  '-XX:+UseSerialGC',
  '-XX:TieredStopAtLevel=1',
  '-Xshare:auto',
  '-Djava.awt.headless=true',
]
