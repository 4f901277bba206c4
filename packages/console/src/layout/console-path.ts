/** The path of the console at the operator listener. */
export const consoleBase = '/console'

/**
 * The decoded rest of the browser's address after a path of the console, for example the id in
 * `/console/messages/<id>`. The router decodes its parameters only partly, so an id with `%` or `/`
 * would be wrong. Incorrectly encoded text is returned unchanged.
 */
export function restOfAddress(pathname: string, path: string): string {
  const rest = pathname.slice(`${consoleBase}${path}/`.length)
  try {
    return decodeURIComponent(rest)
  } catch {
    return rest
  }
}
