/** A file does not look as expected: it would go on to name another version. */
export class NotReleasable extends Error {
  override readonly name = 'NotReleasable'
}

/** Files that say which version this is and that neither `changeset version` nor a generator makes, each with what a release does to its text. */
export const released: Readonly<Record<string, (text: string, version: string) => string>> = {
  // The lockfile names the service twice: at its top, and as the first of what is installed.
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
  if (places !== 1) throw new NotReleasable(`${place} stands ${places} times where it should stand once`)
  return text.replace(place, by)
}
