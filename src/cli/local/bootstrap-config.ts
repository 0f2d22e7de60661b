/** The file with which a host joins. */
interface BootstrapAccess {
  readonly server: string;
  /** PEM; without it the CAs of the host are trusted. */
  readonly ca: string | undefined;
  readonly user: { readonly token: string } | CertificateFiles;
}

/** Files of the host. */
interface CertificateFiles {
  readonly 'client-certificate': string;
  readonly 'client-key': string;
}

/** A kubeconfig as JSON, which is YAML, too: the agent has no parser for YAML. */
export function formatBootstrapConfig({ server, ca, user }: BootstrapAccess): string {
  const authority =
    ca === undefined ? {} : { 'certificate-authority-data': Buffer.from(ca).toString('base64') };
  const name = 'bootstrap';
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': name,
    clusters: [{ name, cluster: { server, ...authority } }],
    users: [{ name, user }],
    contexts: [{ name, context: { cluster: name, user: name } }],
  };
  return JSON.stringify(config, undefined, 2);
}
