/** The file with which a host joins. */
interface BootstrapAccess {
  readonly server: string;
  /** PEM; without it the CAs of the host are trusted. */
  readonly ca: string | undefined;
  readonly token: string;
}

/** A kubeconfig as JSON, which is YAML, too: the agent has no parser for YAML. */
export function formatBootstrapConfig({ server, ca, token }: BootstrapAccess): string {
  const authority =
    ca === undefined ? {} : { 'certificate-authority-data': Buffer.from(ca).toString('base64') };
  const name = 'bootstrap';
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': name,
    clusters: [{ name, cluster: { server, ...authority } }],
    users: [{ name, user: { token } }],
    contexts: [{ name, context: { cluster: name, user: name } }],
  };
  return JSON.stringify(config, undefined, 2);
}
