/** The commands and values of docs/how-to/deploy-on-kubernetes.md, in the order of the page. */
export interface DeployPage {
  readonly secrets: string
  readonly values: string
  readonly install: string
  /** Commands that install without Helm: they render the manifests and apply them. */
  readonly apply: string
  readonly check: string
  readonly networkPolicy: string
  readonly ingress: string
  /** Commands that create the Ingress, and the Secret with its certificate. */
  readonly createIngress: string
  /** Makes the console available on this machine until the command ends. */
  readonly portForward: string
}

/** @throws when a block is missing */
export function readDeployPage(text: string): DeployPage {
  const block = (section: string, pattern: RegExp): string => blockOf(text, section, pattern)
  return {
    secrets: block('2. Create the secrets', /^kubectl create namespace/),
    values: block('3. Write the values', /^# values\.yaml/),
    install: block('4. Install', /^helm upgrade --install/),
    apply: block('4. Install', /^helm template/),
    check: block('4. Install', /rollout status/),
    networkPolicy: block('6. Limit connections', /^networkPolicy:/),
    ingress: block('5. Let senders in', /^# ingress\.yaml/),
    createIngress: block('5. Let senders in', /create secret tls/),
    portForward: block('5. Let senders in', /port-forward/),
  }
}

/** @throws when the Ingress is missing from docs/how-to/use-the-console.md */
export const readConsoleIngress = (text: string): string =>
  blockOf(text, 'Make it available to a team', /^kind: Ingress$/m)

function blockOf(text: string, section: string, pattern: RegExp): string {
  const found = blocksOf(text, section).find(each => pattern.test(each))
  if (found === undefined) throw new Error(`section "${section}" has no block that matches ${pattern}`)
  return found
}

function blocksOf(text: string, section: string): readonly string[] {
  const [, content = ''] = text.split(`\n## ${section}\n`)
  const [own = ''] = content.split('\n## ')
  return [...own.matchAll(/^```\w+\n(.*?)^```$/gms)].map(([, code = '']) => code)
}
