/** Which repositories we fetch from, and by which scheme. The same rule stands as CEL in the Pipeline's CRD. */
import { GitError } from './errors.ts';

export interface RepositoryUrl {
  readonly scheme: 'http' | 'ssh' | 'file';
  /** As it is handed to git: without user and password where the scheme is http. */
  readonly url: string;
  /** For messages and logs: never a credential. */
  readonly display: string;
}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;
const SCP_LIKE = /^(?<user>[A-Za-z0-9][\w.-]*)@(?<host>[A-Za-z0-9][A-Za-z0-9.-]*):(?<path>[^/].*|\/.+)$/;
const WAY_OUT =
  'use https://…, ssh://user@host/path, user@host:path or file:///path (http only for a loopback address)';

export function parseRepository(text: string): RepositoryUrl {
  if (text.startsWith('/')) return { scheme: 'file', url: `file://${text}`, display: `file://${text}` };
  if (SCP_LIKE.test(text)) return { scheme: 'ssh', url: text, display: text };
  if (!URL.canParse(text)) return refuse('this is no URL of a repository', undefined);
  return byProtocol(new URL(text));
}

function byProtocol(url: URL): RepositoryUrl {
  switch (url.protocol) {
    case 'https:':
      return httpUrl(url);
    case 'http:':
      if (LOOPBACK.test(url.hostname)) return httpUrl(url);
      return refuse('plain http gives everybody on the way the code and the token', url);
    case 'ssh:':
      return sshUrl(url);
    case 'file:':
      return { scheme: 'file', url: url.href, display: url.href };
    default:
      return refuse(`repositories are not fetched by ${url.protocol}//`, url);
  }
}

/** A host or user that starts with a dash would be read as an option of ssh. */
function sshUrl(url: URL): RepositoryUrl {
  if (url.hostname === '' || url.hostname.startsWith('-') || url.username.startsWith('-')) {
    return refuse('the host is missing, or starts with a dash', url);
  }
  const clean = withoutPassword(url);
  return { scheme: 'ssh', url: clean, display: clean };
}

function httpUrl(url: URL): RepositoryUrl {
  if (url.username || url.password) {
    return refuse(
      'the URL holds a user or password',
      url,
      'put the token into a Secret and name it in credentialsRef',
    );
  }
  const clean = `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
  return { scheme: 'http', url: clean, display: clean };
}

function withoutPassword(url: URL): string {
  const copy = new URL(url);
  copy.password = '';
  return copy.href;
}

function refuse(message: string, url: URL | undefined, hint = WAY_OUT): never {
  const where = url ? `${url.protocol}//${url.host}${url.pathname}` : undefined;
  throw new GitError('BadUrl', message, { hint, ...(where ? { where } : {}) });
}

/** `main` is a branch; everything else is a full ref. What could be taken for an option or a range is refused. */
export function fullRef(ref: string): string {
  const full = ref === 'HEAD' || ref.startsWith('refs/') ? ref : `refs/heads/${ref}`;
  if (/^[A-Za-z0-9][\w./@+-]*$/.test(full) && !/\.\.|@\{|\/\/|\/$|\.lock$/.test(full)) return full;
  throw new GitError('NotFoundRef', `${JSON.stringify(ref)} is no name that a ref can have`, {
    hint: 'name a branch as refs/heads/main or main, a tag as refs/tags/v1',
  });
}
