/** The kubeconfig of `kubenode machine token` or `kubenode machine userdata`, as JSON: the agent has no parser for YAML. Pure. */
import { textAt } from '../../kube/objects/json.ts';
import { optional } from '../../kube/objects/optional.ts';
import { OsError } from '../../os/errors.ts';

export type BootstrapAccess = BootstrapServer & (JoinToken | KubeletFiles);

interface BootstrapServer {
  readonly server: string;
  /** PEM; without it the CAs of the host are trusted. */
  readonly ca?: string;
}

interface JoinToken {
  readonly token: string;
}

/** The certificate of the kubelet of this host: another program got it, and renews it. */
export interface KubeletFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

/** Throws with what is wrong, and never with the content. */
export function parseBootstrapFile(text: string, file: string): BootstrapAccess {
  const config = parseJson(text);
  if (config === undefined) throw bootstrapError('expected a kubeconfig as JSON', file);
  const server = textAt(config, 'clusters', 0, 'cluster', 'server');
  const ca = textAt(config, 'clusters', 0, 'cluster', 'certificate-authority-data');
  const credential = credentialIn(config);
  if (server === undefined || !server.startsWith('https://') || credential === undefined) {
    throw bootstrapError('expected a kubeconfig with a server, and a token or files of a certificate', file);
  }
  return {
    server,
    ...credential,
    ...optional('ca', ca === undefined ? undefined : Buffer.from(ca, 'base64').toString('utf8')),
  };
}

function credentialIn(config: unknown): JoinToken | KubeletFiles | undefined {
  const [token, certFile, keyFile] = ['token', 'client-certificate', 'client-key'].map((field) =>
    textAt(config, 'users', 0, 'user', field),
  );
  if (token !== undefined) return { token };
  return certFile !== undefined && keyFile !== undefined ? { certFile, keyFile } : undefined;
}

const TOKEN_HINT = 'make one: kubenode machine token MACHINE > bootstrap.json';

export function bootstrapError(message: string, where: string, hint = TOKEN_HINT): OsError {
  return new OsError('BadInput', `bootstrap file: ${message}`, { where, hint });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
