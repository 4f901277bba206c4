import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

/*
 * Runs a process like a container, but with the network of the machine. Needs Linux and root, but
 * no container engine.
 */

/** Why this machine cannot run processes in namespaces. Undefined if it can. */
export const whyNot =
  process.platform !== 'linux' || process.getuid?.() !== 0 ? 'file systems of their own take Linux and root' : undefined

export interface Enclosure {
  readonly root: string
  /** Bind mounts: a path of the machine, and an existing path below the root. */
  readonly binds: readonly (readonly [outside: string, inside: string])[]
  readonly environment: Readonly<Record<string, string>>
  readonly workdir: string
  /**
   * Makes the file system read-only, and runs the process as this user without capabilities.
   * Default: writable, as root.
   */
  readonly confined?: { readonly uid: number }
}

const script = `
set -e
root=$1; shift
mount --bind "$root" "$root"
while [ "$1" != -- ]; do mount --rbind "$1" "$root$2"; shift 2; done
shift
mount -t proc proc "$root/proc"
if [ "$1" = ro ]; then mount -o remount,bind,ro "$root"; fi
shift
exec "$@"
`

/**
 * Starts a command in new namespaces. If the child is killed, Linux kills the processes in these
 * namespaces.
 */
export function enclosed(enclosure: Enclosure, words: readonly string[]): ChildProcess {
  const { root, binds, environment, workdir, confined } = enclosure
  const user = confined === undefined ? [] : [`--setgid=${confined.uid}`, `--setuid=${confined.uid}`]
  const inner = ['unshare', `--root=${root}`, `--wd=${workdir}`, ...user, '--', ...words]
  const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`)
  // `unshare` belongs to the machine, not to the enclosed file system, so its path is absolute.
  const program = ['/usr/bin/env', '-i', ...variables, '/usr/bin/unshare', ...inner.slice(1)]
  const args = [root, ...binds.flat(), '--', confined === undefined ? 'rw' : 'ro', ...program]
  const spaces = ['--mount', '--propagation=private', '--pid', '--fork', '--kill-child']
  const privileges = confined === undefined ? [] : ['--no-new-privs']
  return spawn('setpriv', [...privileges, 'unshare', ...spaces, '/bin/sh', '-c', script, 'sh', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

/** The process id that process 1 of the namespace has on the machine. */
export function innermost(child: ChildProcess): number {
  for (const entry of readdirSync('/proc').filter(name => /^\d+$/.test(name))) {
    const status = statusOf(Number(entry))
    if (Number(/^PPid:\s*(\d+)$/m.exec(status)?.[1]) === child.pid) return Number(entry)
  }
  throw new Error('it has no process inside')
}

/** The content of `/proc/<pid>/status`, or '' if the process has exited. */
export function statusOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8')
  } catch {
    return ''
  }
}

export const librariesOf = (program: string): string[] =>
  [...execFileSync('ldd', [program], { encoding: 'utf8' }).matchAll(/(\/\S+) \(0x/g)].map(([, path]) => path as string)
