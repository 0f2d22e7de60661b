/** The kubeconfig of `kubenode machine token`, as JSON: the agent has no parser for YAML. Pure. */
import { textAt } from '../../kube/objects/json.ts';
import { OsError } from '../../os/errors.ts';

export interface BootstrapAccess {
  readonly server: string;
  /** PEM; without it the CAs of the host are trusted. */
  readonly ca?: string;
  readonly token: string;
}

/** Throws with what is wrong, and never with the content. */
export function parseBootstrapFile(text: string, file: string): BootstrapAccess {
  const config = parseJson(text);
  if (config === undefined) throw bootstrapError('expected a kubeconfig as JSON', file);
  const server = textAt(config, 'clusters', 0, 'cluster', 'server');
  const ca = textAt(config, 'clusters', 0, 'cluster', 'certificate-authority-data');
  const token = textAt(config, 'users', 0, 'user', 'token');
  if (server === undefined || !server.startsWith('https://') || token === undefined) {
    throw bootstrapError('expected a kubeconfig with a server and a token', file);
  }
  return { server, token, ...(ca === undefined ? {} : { ca: Buffer.from(ca, 'base64').toString('utf8') }) };
}

export function bootstrapError(message: string, where: string): OsError {
  const hint = 'make one: kubenode machine token MACHINE > bootstrap.json';
  return new OsError('BadInput', `bootstrap file: ${message}`, { where, hint });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
