/**
 * Who we are to an API server, and whom we trust: read from text and files, and read again when the files change.
 * Needs nothing but Node, because the agent uses it too.
 */
import { readFile, stat } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import type { Clock } from '../../os/clock.ts';
import { KubeError } from '../client/errors.ts';

/** PEM texts, and how the server's name is checked. */
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
  /** The same object as long as nothing changed: a new one means new connections. */
  readonly tls: TlsMaterial;
  readonly headers: AuthHeaders;
}

export interface Credentials {
  /** Cheap enough for every call. Rejects with KubeError Credentials, which names the file or plug-in. */
  current(): Promise<Identity>;
  /** The server refused them, or the handshake failed: read everything again before the next call. */
  forget(): void;
}

/** What an API server's connection is made of; both transports take it. */
export interface Connection {
  /** https://host:port, perhaps with a path in front of /api. */
  readonly server: string;
  readonly credentials: Credentials;
  readonly userAgent?: string;
}

/** Each thing as text, or as a file that may change. Text wins. */
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
  /** Headers on every call, such as those of impersonation. */
  readonly headers?: AuthHeaders;
}

interface Options {
  readonly clock: Clock;
  /** Where the sources were named, for messages: "context prod of /home/me/.kube/config". */
  readonly origin: string;
  /** How soon a changed file is noticed. */
  readonly checkEveryMs?: number;
}

// A kubelet renews a projected token a fifth of its life (≥ 2 min) before its end: 10 s loses nothing, and costs
// four `stat` calls.
const CHECK_EVERY_MS = 10_000;

type FileKind = 'ca' | 'cert' | 'key' | 'token';

export function createCredentials(
  sources: CredentialSources,
  { clock, origin, checkEveryMs = CHECK_EVERY_MS }: Options,
): Credentials {
  const files = filesOf(sources);
  let identity: Identity | undefined;
  let seen = '';
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
      if (!identity || stamp !== seen) {
        identity = renewed(identity, await read(sources, files));
        seen = stamp;
      }
      checkedAt = clock.monotonicMs();
      return identity;
    } catch (error) {
      // Files are replaced one after the other: for a moment key and certificate do not belong together. What
      // worked until now goes on; the next check, on the next call, looks again.
      if (identity) return identity;
      throw new KubeError('Credentials', `${wordsFor(error)} (${origin})`, { cause: error });
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

/** Inode and times, not only the modification time: a projected volume swaps a symbolic link. */
async function stampOf(files: readonly NamedFile[]): Promise<string> {
  const stamps = files.map(async ({ path }) => {
    const { ino, mtimeMs, ctimeMs, size } = await stat(path);
    return `${ino}:${mtimeMs}:${ctimeMs}:${size}`;
  });
  return (await Promise.all(stamps)).join(' ');
}

async function read(sources: CredentialSources, files: readonly NamedFile[]): Promise<Identity> {
  const texts = await Promise.all(
    files.map(async ({ kind, path }) => [kind, await readFile(path, 'utf8')] as const),
  );
  const { ca, cert, key, token, servername, insecure, basic, headers } = {
    ...sources,
    ...Object.fromEntries(texts),
  };
  const tls = present({ ca, cert, key, servername, insecure });
  checkKeyPair(tls);
  const authorization = authorizationHeader(token, basic);
  return { tls, headers: { ...headers, ...(authorization ? { authorization } : {}) } };
}

/** Keeps the TLS object when only a token changed: connections stay. */
function renewed(before: Identity | undefined, after: Identity): Identity {
  const same = before && JSON.stringify(before.tls) === JSON.stringify(after.tls);
  return same ? { tls: before.tls, headers: after.headers } : after;
}

function present(tls: { [K in keyof TlsMaterial]: TlsMaterial[K] | undefined }): TlsMaterial {
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

/** Better here, with the file's name, than as a failed handshake. */
export function checkKeyPair({ ca, cert, key }: TlsMaterial): void {
  // OpenSSL passes silently over a CA that is none, and then trusts nobody.
  const blind = ca !== undefined && !ca.includes('-----BEGIN ');
  if (blind) throw new Error('certificate-authority holds no PEM certificate');
  createSecureContext({
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  });
}

function wordsFor(error: unknown): string {
  const { code, path, message } = error as { code?: string; path?: string; message?: string };
  if (code === 'ENOENT' && path) return `the credential file ${path} does not exist`;
  if (code === 'EACCES' && path) return `the credential file ${path} may not be read by this user`;
  if (code === 'ERR_OSSL_X509_KEY_VALUES_MISMATCH') return 'client certificate and key do not match';
  if (code?.startsWith('ERR_OSSL')) return `certificate or key is not valid PEM: ${message}`;
  return `the credentials cannot be read: ${message}`;
}

/** `Impersonate-*` headers: act as another user, if the server allows it. */
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
