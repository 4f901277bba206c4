/** The path of the console at the operator listener. */
export const consoleBase = '/console'

/**
 * Decodes the part of the browser's address after `path`. The router decodes its parameters only
 * partly, so an id with `%` or `/` would be wrong.
 */
export function restOfAddress(pathname: string, path: string): string {
  const rest = pathname.slice(`${consoleBase}${path}/`.length)
  try {
    return decodeURIComponent(rest)
  } catch {
    return rest
  }
}
