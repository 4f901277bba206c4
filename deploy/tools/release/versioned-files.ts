/** Thrown when a file does not have the expected form, so that its version cannot be replaced. */
export class NotReleasable extends Error {
  override readonly name = 'NotReleasable'
}

/**
 * Files whose version neither `changeset version` nor a generator updates, each with the function
 * that sets the version.
 */
export const released: Readonly<Record<string, (text: string, version: string) => string>> = {
  // The version occurs five times: at the top, for each of the three packages, and where
  // `@hookline/client-kafka` depends on `@hookline/client`.
  'package-lock.json': (text, version) =>
    [
      /(?<=^\{\n {2}"name": "hookline",\n {2}"version": ")[^"]*/g,
      /(?<=^ {4}"": \{\n {6}"name": "hookline",\n {6}"version": ")[^"]*/gm,
      /(?<=^ {6}"name": "@hookline\/client",\n {6}"version": ")[^"]*/gm,
      /(?<=^ {6}"name": "@hookline\/client-kafka",\n {6}"version": ")[^"]*/gm,
      /(?<=^ {8}"@hookline\/client": "\^)[^"]*/gm,
    ].reduce((changed, place) => replaced(changed, place, version), text),
  'packages/client/src/version.ts': (text, version) => replaced(text, /version: '[^']*'/g, `version: '${version}'`),
  'deploy/helm/hookline/Chart.yaml': (text, version) =>
    replaced(replaced(text, /^version: .*$/gm, `version: ${version}`), /^appVersion: .*$/gm, `appVersion: ${version}`),
}

function replaced(text: string, place: RegExp, by: string): string {
  const places = text.match(place)?.length ?? 0
  if (places !== 1) throw new NotReleasable(`the pattern ${place} must occur exactly once, but occurs ${places} times`)
  return text.replace(place, by)
}
