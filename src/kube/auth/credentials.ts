/**
 * Credentials and trusted authorities for an API server, from texts and from files that are read again when they change.
 * Uses no npm package, because the agent uses it.
 */
import { readFile, stat } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import type { Clock } from '../../os/clock.ts';
import { KubeError } from '../client/errors.ts';

/** PEM texts and the options of the server check. */
export interface TlsMaterial {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly servername?: string;
  /** Trust any server: `insecure-skip-tls-verify`. */
  readonly insecure?: boolean;
}

export type AuthHeaders = Readonly<Record<string, string | readonly string[]>>;

export interface Identity {
  /** The same object while nothing changes, because a new object causes new connections. */
  readonly tls: TlsMaterial;
  readonly headers: AuthHeaders;
}

export interface Credentials {
  /** Cheap enough for every call. Rejects with a KubeError Credentials that names the file or plug-in. */
  current(): Promise<Identity>;
  /** Reads everything again before the next call, because the server rejected them or the handshake failed. */
  forget(): void;
}

/** The parameters of a connection to an API server, for both transports. */
export interface Connection {
  /** https://host:port, optionally with a path prefix. */
  readonly server: string;
  readonly credentials: Credentials;
  readonly userAgent?: string;
}

/** Each as text, or as a file that may change. A text has precedence. */
export interface CredentialSources {
  readonly ca?: string;
  readonly caFile?: string;
  readonly cert?: string;
  readonly certFile?: string;
  readonly key?: string;
  readonly keyFile?: string;
  readonly token?: string;
  readonly tokenFile?: string;
  readonly basic?: { readonly username: string; readonly password: string };
  readonly servername?: string;
  readonly insecure?: boolean;
  /** Headers of every call, for example for impersonation. */
  readonly headers?: AuthHeaders;
}

interface CredentialOptions {
  readonly clock: Clock;
  /** Where the sources are configured, for messages: "context prod of /home/me/.kube/config". */
  readonly origin: string;
  /** How soon a change of a file is detected. */
  readonly checkEveryMs?: number;
}

// The kubelet renews a projected token when a fifth of its lifetime (≥ 2 min) is left, so a check every 10 s is early
// enough. It costs four `stat` calls.
const CHECK_EVERY_MS = 10_000;

type FileKind = 'ca' | 'cert' | 'key' | 'token';

export function createCredentials(
  sources: CredentialSources,
  { clock, origin, checkEveryMs = CHECK_EVERY_MS }: CredentialOptions,
): Credentials {
  const files = filesOf(sources);
  let identity: Identity | undefined;
  let readStamp = '';
  let checkedAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<Identity> | undefined;

  return { current, forget: () => (checkedAt = Number.NEGATIVE_INFINITY) };

  async function current(): Promise<Identity> {
    if (identity && (files.length === 0 || clock.monotonicMs() - checkedAt < checkEveryMs)) return identity;
    reading ??= refresh().finally(() => (reading = undefined));
    return reading;
  }

  async function refresh(): Promise<Identity> {
    try {
      const stamp = await stampOf(files);
      if (!identity || stamp !== readStamp) {
        identity = keepTls(identity, await readIdentity(sources, files));
        readStamp = stamp;
      }
      checkedAt = clock.monotonicMs();
      return identity;
    } catch (error) {
      // Files are replaced one after the other, so key and certificate may not match for a moment. Keep the previous
      // identity; the next call checks again.
      if (identity) return identity;
      throw new KubeError('Credentials', `${credentialErrorMessage(error)} (${origin})`, { cause: error });
    }
  }
}

interface NamedFile {
  readonly kind: FileKind;
  readonly path: string;
}

function filesOf(sources: CredentialSources): NamedFile[] {
  const kinds: readonly FileKind[] = ['ca', 'cert', 'key', 'token'];
  return kinds.flatMap((kind) => {
    const path = sources[`${kind}File`];
    return path && sources[kind] === undefined ? [{ kind, path }] : [];
  });
}

/** Not only the modification time, because a projected volume swaps a symbolic link. */
async function stampOf(files: readonly NamedFile[]): Promise<string> {
  const stamps = files.map(async ({ path }) => {
    const { ino, mtimeMs, ctimeMs, size } = await stat(path);
    return `${ino}:${mtimeMs}:${ctimeMs}:${size}`;
  });
  return (await Promise.all(stamps)).join(' ');
}

async function readIdentity(sources: CredentialSources, files: readonly NamedFile[]): Promise<Identity> {
  const texts = await Promise.all(
    files.map(async ({ kind, path }) => [kind, await readFile(path, 'utf8')] as const),
  );
  const { ca, cert, key, token, servername, insecure, basic, headers } = {
    ...sources,
    ...Object.fromEntries(texts),
  };
  const tls = omitUndefined({ ca, cert, key, servername, insecure });
  checkKeyPair(tls);
  const authorization = authorizationHeader(token, basic);
  return { tls, headers: { ...headers, ...(authorization ? { authorization } : {}) } };
}

/** Keeps the TLS object when only the token changed, so that connections are kept. */
function keepTls(before: Identity | undefined, after: Identity): Identity {
  const same = before && JSON.stringify(before.tls) === JSON.stringify(after.tls);
  return same ? { tls: before.tls, headers: after.headers } : after;
}

function omitUndefined(tls: { [K in keyof TlsMaterial]: TlsMaterial[K] | undefined }): TlsMaterial {
  return Object.fromEntries(Object.entries(tls).filter(([, value]) => value !== undefined));
}

export function authorizationHeader(
  token: string | undefined,
  basic: CredentialSources['basic'],
): string | undefined {
  if (token !== undefined && token.trim() !== '') return `Bearer ${token.trim()}`;
  if (basic) return `Basic ${Buffer.from(`${basic.username}:${basic.password}`).toString('base64')}`;
  return undefined;
}

/** Reports an invalid certificate or key with the file's name, instead of a failed handshake later. */
export function checkKeyPair({ ca, cert, key }: TlsMaterial): void {
  // OpenSSL silently ignores a CA without a certificate, and then trusts no server.
  const isEmptyCa = ca !== undefined && !ca.includes('-----BEGIN ');
  if (isEmptyCa) throw new Error('certificate-authority contains no PEM certificate');
  createSecureContext({
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  });
}

function credentialErrorMessage(error: unknown): string {
  const { code, path, message } = error as { code?: string; path?: string; message?: string };
  if (code === 'ENOENT' && path) return `the credential file ${path} does not exist`;
  if (code === 'EACCES' && path) return `permission denied for the credential file ${path}`;
  if (code === 'ERR_OSSL_X509_KEY_VALUES_MISMATCH') return 'client certificate and key do not match';
  if (code?.startsWith('ERR_OSSL')) return `certificate or key is not valid PEM: ${message}`;
  return `cannot read the credentials: ${message}`;
}

/** The user to impersonate with `Impersonate-*` headers, if the server allows it. */
export interface Impersonation {
  readonly user: string;
  readonly groups?: readonly string[];
  readonly uid?: string;
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

export function impersonationHeaders({ user, groups, uid, extra }: Impersonation): AuthHeaders {
  const headers: Record<string, string | readonly string[]> = { 'impersonate-user': user };
  if (groups && groups.length > 0) headers['impersonate-group'] = groups;
  if (uid) headers['impersonate-uid'] = uid;
  for (const [key, values] of Object.entries(extra ?? {})) {
    headers[`impersonate-extra-${encodeURIComponent(key)}`] = values;
  }
  return headers;
}
