/** The kubeconfig of a kubelet. It names files, so that a renewed certificate is used without a restart. Pure. */
export interface KubeconfigFiles {
  readonly server: string;
  /** The file of the CA. Without it the CAs of the host are trusted. */
  readonly caFile?: string;
  /** Certificate and key. */
  readonly certificateFile: string;
}

/** Formats the kubeconfig as JSON, which is YAML, too. */
export function formatIdentityKubeconfig({ server, caFile, certificateFile }: KubeconfigFiles): string {
  const name = 'kubelet';
  const cluster = { server, ...(caFile === undefined ? {} : { 'certificate-authority': caFile }) };
  const user = { 'client-certificate': certificateFile, 'client-key': certificateFile };
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': name,
    clusters: [{ name, cluster }],
    users: [{ name, user }],
    contexts: [{ name, context: { cluster: name, user: name } }],
  };
  return `${JSON.stringify(config, undefined, 2)}\n`;
}
