/** There is nothing to release, or a file does not look as expected. */
export class NotReleasable extends Error {
  override readonly name = 'NotReleasable'
}

/** Files that say which version this is and that no generator makes, each with what a release does to its text. */
export const released: Readonly<Record<string, (text: string, version: string, date: string) => string>> = {
  'CHANGELOG.md': (text, version, date) => {
    const [head = '', rest] = text.split(/^## Unreleased\n/m)
    if (rest === undefined) throw new NotReleasable('CHANGELOG.md has no section "## Unreleased"')
    const [unreleased = ''] = rest.split(/^## /m)
    if (unreleased.trim() === '') throw new NotReleasable('CHANGELOG.md says of nothing that it is unreleased')
    return `${head}## Unreleased\n\n## ${version}, ${date}\n${rest}`
  },
  'src/client/version.ts': (text, version) => replaced(text, /version: '[^']*'/g, `version: '${version}'`),
  'deploy/helm/hookline/Chart.yaml': (text, version) =>
    replaced(replaced(text, /^version: .*$/gm, `version: ${version}`), /^appVersion: .*$/gm, `appVersion: ${version}`),
}

function replaced(text: string, place: RegExp, by: string): string {
  const places = text.match(place)?.length ?? 0
  if (places !== 1) throw new NotReleasable(`${place} stands ${places} times where it should stand once`)
  return text.replace(place, by)
}
