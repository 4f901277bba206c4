import { CommandFailed } from '../create-command.ts'

/**
 * Starts an HTTP server, and returns its URL.
 * @throws CommandFailed that names `key`, when the server cannot listen
 */
export async function startServer(
  key: 'collector.listen' | 'operator.listen' | 'ops.listen',
  server: { start(): Promise<string> },
): Promise<string> {
  try {
    return await server.start()
  } catch (error) {
    const { message } = error as Error
    throw new CommandFailed(`cannot listen at ${key}: ${message}; choose another address or port`, { cause: error })
  }
}
