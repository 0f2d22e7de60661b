/** Derives from a Pipeline which API of which git host its commits are reported to. Pure. */
import type { GitHost, Pipeline } from '../../api/generated/types.ts';
import { ownValue } from '../../kube/objects/json.ts';
import { optional } from '../../kube/objects/optional.ts';
import { isGitError } from '../git/errors.ts';
import { parseRepository } from '../git/repository-url.ts';

export type GitHostType = NonNullable<GitHost['type']>;

export interface GitHostProject {
  readonly type: GitHostType;
  /** The address of the host, without a slash at the end. */
  readonly base: string;
  /** The path of the repository at the host: `owner/name`. */
  readonly path: string;
  /** The name of the status at the host. */
  readonly context: string;
  readonly link?: string;
}

/** The commits cannot be reported, and only a change of the Pipeline helps. */
export class GitHostError extends Error {
  override readonly name = 'GitHostError';
}

const KNOWN_HOSTS: Readonly<Record<string, GitHostType>> = {
  'github.com': 'GitHub',
  'gitlab.com': 'GitLab',
  'codeberg.org': 'Gitea',
};

/** Throws GitHostError. */
export function gitHostProject({ metadata, spec }: Pipeline): GitHostProject {
  const { repository, gitHost = {} } = spec.source;
  const address = addressOf(repository);
  const base = hostUrl(gitHost.url ?? `https://${address.host}`);
  const prefix = base.pathname.replace(/\/+$/, '');
  const path = projectPath(address.path, prefix);
  const { context = `kubenode/${metadata.name}` } = gitHost;
  const type = typeOf(gitHost, base, path);
  return { type, base: `${base.origin}${prefix}`, path, context, ...optional('link', gitHost.link) };
}

function typeOf(gitHost: GitHost, base: URL, path: string): GitHostType {
  const type = gitHost.type ?? ownValue(KNOWN_HOSTS, base.host);
  if (!type) {
    throw new GitHostError(
      `the API of ${base.host} is not known: set spec.source.gitHost.type to GitHub, GitLab or Gitea`,
    );
  }
  if (type !== 'GitLab' && path.split('/').length !== 2) {
    throw new GitHostError(
      `the path ${JSON.stringify(path.slice(0, 200))} is not that of a repository at ${type}: expected owner/name. Set spec.source.gitHost.url if the host is served under a path`,
    );
  }
  return type;
}

interface RepositoryAddress {
  readonly host: string;
  readonly path: string;
}

const SCP_PATH = /^[^/]*?@[^/:]*:(?<path>.*)$/;

function addressOf(repository: string): RepositoryAddress {
  const { scheme, url, host } = parseRepository(repository);
  if (scheme === 'file') {
    throw new GitHostError(
      'a repository in a folder has no git host: remove spec.source.statusCredentialsRef, and leave spec.onFailure at Stop',
    );
  }
  const scp = SCP_PATH.exec(url)?.groups?.['path'];
  if (scp !== undefined && !url.includes('://')) return { host, path: scp };
  const parsed = new URL(url);
  // The port of ssh is not that of the API.
  return { host: scheme === 'ssh' ? parsed.hostname : host, path: parsed.pathname };
}

/** The rule for repositories: https, or http for a loopback address, and no password in the URL. */
function hostUrl(text: string): URL {
  try {
    const { scheme, url } = parseRepository(text);
    if (scheme === 'http') return new URL(url);
  } catch (error) {
    if (!isGitError(error)) throw error;
  }
  throw new GitHostError(
    'the address of the git host is not usable: set spec.source.gitHost.url to https://HOST, without user and password',
  );
}

/** Removes the path that the host is served under, and `.git`. */
function projectPath(path: string, prefix: string): string {
  const whole = `/${decode(path).replace(/^\/+/, '')}`;
  const below = prefix !== '' && whole.startsWith(`${prefix}/`) ? whole.slice(prefix.length) : whole;
  const segments = below
    .replace(/\/+$/, '')
    .replace(/\.git$/, '')
    .split('/')
    .slice(1);
  if (segments.length < 2 || segments.some(isOdd)) {
    throw new GitHostError(
      'the path of spec.source.repository is not that of a repository at a git host: expected owner/name',
    );
  }
  return segments.join('/');
}

function isOdd(segment: string): boolean {
  return ['', '.', '..'].includes(segment) || /[\p{Cc}\\]/u.test(segment);
}

function decode(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    throw new GitHostError('spec.source.repository is not a valid URL: write % as %25');
  }
}
