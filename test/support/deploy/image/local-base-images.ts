import { execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readlinkSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { type Enclosure, librariesOf } from './linux-namespaces.ts'

/* Replacements of the two base images of the Dockerfile, made from files of this machine. */

export interface Base extends Pick<Enclosure, 'root' | 'binds' | 'environment'> {}

const node = realpathSync(resolve(import.meta.dirname, '../../../../node_modules/node/bin/node'))
const certificates = '/etc/ssl/certs/ca-certificates.crt'

/**
 * Replaces `node:24-bookworm-slim` with bind mounts of this machine's programs. A build command
 * that writes to these mounts changes this machine.
 */
export function buildBase(root: string): Base {
  const binds: [string, string][] = [['/dev', '/dev']]
  for (const name of ['/usr', '/etc', '/bin', '/sbin', '/lib', '/lib64'].filter(existsSync)) {
    if (lstatSync(name).isSymbolicLink()) symlinkSync(readlinkSync(name), join(root, name))
    else binds.push([name, name])
  }
  const npm = dirname(dirname(realpathSync(execFileSync('which', ['npm'], { encoding: 'utf8' }).trim())))
  const cache = execFileSync('npm', ['config', 'get', 'cache'], { encoding: 'utf8' }).trim()
  mkdirSync(cache, { recursive: true })
  binds.push([dirname(node), '/opt/node'], [npm, '/opt/npm'], [cache, '/home/build/.npm'])
  for (const [, inside] of binds) mkdirSync(join(root, inside), { recursive: true })
  for (const each of ['proc', 'tmp', 'opt/bin']) mkdirSync(join(root, each), { recursive: true })
  const settings = join(homedir(), '.npmrc')
  if (existsSync(settings)) cpSync(settings, join(root, 'home/build/.npmrc'))
  writeFileSync(join(root, 'opt/bin/npm'), '#!/bin/sh\nexec node /opt/npm/bin/npm-cli.js "$@"\n', { mode: 0o755 })
  const passedOn = Object.entries(process.env).filter(([name]) =>
    /^(https?_proxy|no_proxy|node_extra_ca_certs|ssl_cert_\w+)$/i.test(name),
  )
  return {
    root,
    binds,
    environment: {
      ...(Object.fromEntries(passedOn) as Record<string, string>),
      HOME: '/home/build',
      PATH: '/opt/node:/opt/bin:/usr/bin:/bin',
    },
  }
}

/**
 * Replaces a distroless image: Node, its libraries, the CA certificates and the user `nonroot`,
 * without a shell.
 */
export function runtimeBase(root: string): Base {
  const copies = [[node, '/nodejs/bin/node'], ...librariesOf(node).map(path => [path, path])] as [string, string][]
  if (existsSync(certificates)) copies.push([certificates, certificates])
  for (const [from, to] of copies) cpSync(realpathSync(from), join(root, to))
  for (const each of ['proc', 'dev', 'tmp', 'etc']) mkdirSync(join(root, each), { recursive: true })
  writeFileSync(join(root, 'etc/passwd'), 'nonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin\n')
  // Node needs these files to resolve host names. Usually a container engine adds them.
  for (const file of ['/etc/hosts', '/etc/resolv.conf', '/etc/nsswitch.conf'].filter(existsSync))
    cpSync(realpathSync(file), join(root, file))
  return { root, binds: [['/dev', '/dev']], environment: { PATH: '/usr/local/bin:/usr/bin:/bin' } }
}
