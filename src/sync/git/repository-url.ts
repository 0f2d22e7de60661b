/** The repository URLs that we fetch from. The CRD of Pipeline enforces the same rule in CEL. */
import { GitError } from './errors.ts';

export interface RepositoryUrl {
  readonly scheme: 'http' | 'ssh' | 'file';
  /** The address for git, without user and password when the scheme is http. */
  readonly url: string;
  /** The address for messages and logs, which never contains a credential. */
  readonly display: string;
  /** The host to which credentials are sent, with its port if that is not the default of the scheme. Empty for a file. */
  readonly host: string;
}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;
const SCP_LIKE = /^(?<user>[A-Za-z0-9][\w.-]*)@(?<host>[A-Za-z0-9][A-Za-z0-9.-]*):(?<path>[^/].*|\/.+)$/;
const SUPPORTED_URLS =
  'use https://…, ssh://user@host/path, user@host:path or file:///path (http only for a loopback address)';

export function parseRepository(text: string): RepositoryUrl {
  if (text.startsWith('/')) return fileUrl(`file://${text}`);
  const host = SCP_LIKE.exec(text)?.groups?.['host'];
  if (host !== undefined) return { scheme: 'ssh', url: text, display: text, host };
  if (!URL.canParse(text)) return refuse('this is not a repository URL', undefined);
  return byProtocol(new URL(text));
}

function byProtocol(url: URL): RepositoryUrl {
  switch (url.protocol) {
    case 'https:':
      return httpUrl(url);
    case 'http:':
      if (LOOPBACK.test(url.hostname)) return httpUrl(url);
      return refuse('plain http exposes code and token to the network', url);
    case 'ssh:':
      return sshUrl(url);
    case 'file:':
      return fileUrl(url.href);
    default:
      return refuse(`the scheme ${url.protocol}// is not supported`, url);
  }
}

/** ssh would parse a host or user that starts with a dash as an option. */
function sshUrl(url: URL): RepositoryUrl {
  if (url.hostname === '' || url.hostname.startsWith('-') || url.username.startsWith('-')) {
    return refuse('the host is missing, or the host or user starts with a dash', url);
  }
  const clean = withoutPassword(url);
  return { scheme: 'ssh', url: clean, display: clean, host: url.host.replace(/:22$/, '') };
}

function httpUrl(url: URL): RepositoryUrl {
  if (url.username || url.password) {
    return refuse(
      'the URL contains a user or password',
      url,
      'put the token into a Secret and name it in credentialsRef',
    );
  }
  const clean = `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
  return { scheme: 'http', url: clean, display: clean, host: url.host };
}

function fileUrl(url: string): RepositoryUrl {
  return { scheme: 'file', url, display: url, host: '' };
}

function withoutPassword(url: URL): string {
  const copy = new URL(url);
  copy.password = '';
  return copy.href;
}

function refuse(message: string, url: URL | undefined, hint = SUPPORTED_URLS): never {
  const where = url ? `${url.protocol}//${url.host}${url.pathname}` : undefined;
  throw new GitError('BadUrl', message, { hint, ...(where ? { where } : {}) });
}

/** Expands the name of a branch to a full ref. Refuses what git could parse as an option or a range. */
export function fullRef(ref: string): string {
  const full = ref === 'HEAD' || ref.startsWith('refs/') ? ref : `refs/heads/${ref}`;
  if (/^[A-Za-z0-9][\w./@+-]*$/.test(full) && !/\.\.|@\{|\/\/|\/$|\.lock$/.test(full)) return full;
  throw new GitError('NotFoundRef', `${JSON.stringify(ref)} is not a valid ref name`, {
    hint: 'name a branch as main or refs/heads/main, a tag as refs/tags/v1',
  });
}
