/**
 * Reads the file of `kubenode console --login-clusters`: a kubeconfig with the clusters to which ID tokens may be sent, by the names of their
 * Cluster objects. It has servers and their authorities, and no credentials. Pure.
 */
import { X509Certificate } from 'node:crypto';
import { type Kubeconfig, readKubeconfig, selectContext } from '../../../kube/auth/kubeconfig.ts';
import { messageOf, OsError } from '../../../os/errors.ts';

export interface LoginCluster {
  /** The name of the context, and of the Cluster on the hub. */
  readonly name: string;
  readonly server: string;
}

/** With the kinds of the hub these are 49 watches of a person, and 588 of the twelve people whose fleets are read. */
export const MAX_LOGIN_CLUSTERS = 8;
/** The hint where people do not sign in at an issuer. */
export const ISSUER_NEEDED =
  'a token that a person enters is for one API server: let people sign in at an issuer that all of the clusters trust';
/** The form of the name of a Cluster. */
const CLUSTER_NAME = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

/** `hubServer`: the server of the console itself, which must not be in the file. */
export function parseLoginClusters(text: string, where: string, hubServer?: string): readonly LoginCluster[] {
  try {
    return checkedClusters(readKubeconfig(text, { origin: where, trusted: true }), hubServer);
  } catch (error) {
    throw new OsError('BadInput', `the file of the clusters is not valid: ${messageOf(error)}`, {
      where,
      hint: 'docs/guides/console-login.md has an example',
      cause: error,
    });
  }
}

function checkedClusters(config: Kubeconfig, hubServer: string | undefined): readonly LoginCluster[] {
  const { users, contexts, clusters: entries } = config;
  const [user] = users;
  if (user) {
    throw new Error(
      `it has user ${user.entry.name}. Remove all users: a cluster is read with the ID token of each person`,
    );
  }
  if (contexts.length === 0) throw new Error('it has no contexts. Add one with the name of each Cluster');
  if (contexts.length > MAX_LOGIN_CLUSTERS) {
    throw new Error(
      `it has ${contexts.length} contexts, and ${MAX_LOGIN_CLUSTERS} is the limit. Use a console in each of the other clusters`,
    );
  }
  // An entry without a context, too: the file is read as a whole for each connection, which must name no files.
  const withFile = entries.find(({ caFile }) => caFile);
  if (withFile) {
    throw new Error(
      `cluster ${withFile.name} has a file as certificate-authority. Set certificate-authority-data instead`,
    );
  }
  const clusters = contexts.map(({ name }) => checkedCluster(config, name));
  checkUnique(clusters, hubServer);
  return clusters;
}

function checkedCluster(config: Kubeconfig, name: string): LoginCluster {
  const context = `context ${name}`;
  if (!CLUSTER_NAME.test(name)) throw new Error(`${context} does not have the name of a Cluster`);
  if (config.contexts.find((entry) => entry.name === name)?.user) {
    throw new Error(`${context} names a user. Remove it: a cluster is read with the ID token of each person`);
  }
  const { cluster } = selectContext(config, name);
  const reason = unverifiedReason(cluster);
  if (reason !== undefined) throw new Error(`${context} has ${reason}`);
  return { name, server: cluster.server };
}

type ServerEntry = ReturnType<typeof selectContext>['cluster'];

/** Returns why a token must not be sent to the server, with what to change. */
function unverifiedReason({ server, skipTLSVerify, caData }: ServerEntry): string | undefined {
  if (!server.startsWith('https://')) return `a server without TLS, ${server}: expected https://host:port`;
  if (skipTLSVerify) {
    return 'insecure-skip-tls-verify. Remove it: tokens are sent to verified servers only';
  }
  if (!caData) return `no certificate-authority-data. Set it to the CA of ${server}`;
  return isCertificate(caData) ? undefined : 'a certificate-authority-data that is not a certificate in PEM';
}

function isCertificate(base64: string): boolean {
  try {
    return new X509Certificate(Buffer.from(base64, 'base64')).subject !== undefined;
  } catch {
    return false;
  }
}

/** One cluster under two names would be read twice, and one under the name of another would be shown as that. */
function checkUnique(clusters: readonly LoginCluster[], hubServer: string | undefined): void {
  const names = new Set<string>();
  const servers = new Map<string, string>();
  if (hubServer !== undefined) servers.set(addressOf(hubServer), 'the console itself');
  for (const { name, server } of clusters) {
    if (names.has(name)) throw new Error(`context ${name} is there twice. Remove one`);
    names.add(name);
    const other = servers.get(addressOf(server));
    if (other !== undefined) {
      throw new Error(`context ${name} has the server of ${other}, ${server}. Remove one`);
    }
    servers.set(addressOf(server), `context ${name}`);
  }
}

/** Without the slash at the end, and as a URL is written: two spellings are one server. */
function addressOf(server: string): string {
  return new URL(server).href.replace(/\/+$/, '');
}
