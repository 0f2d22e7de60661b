/** Finds the page of a commit at the git host, from the address of the repository. Pure. */

/** The form of scp: `git@host:owner/name.git`. */
const SCP = /^[\w.-]+@(?<host>[\w.-]+):(?<path>[^/\\].*)$/;

/** Returns an https address. Undefined: the repository is a folder, or has no host that serves pages. */
export function commitLink(repository: string, commit: string): string | undefined {
  const { host, path } = placeOf(repository) ?? {};
  const parts = (path ?? '')
    .replace(/\.git\/?$/, '')
    .split('/')
    .filter(Boolean);
  if (host === undefined || parts.length < 2 || !/^[\da-f]{7,64}$/.test(commit)) return undefined;
  return `https://${host}/${parts.join('/')}/${pathOf(host)}/${commit}`;
}

/** GitHub, GitLab, Gitea and Forgejo have the page of a commit under `commit`; Bitbucket has it under `commits`. */
function pathOf(host: string): string {
  return /(^|\.)bitbucket\./.test(host) ? 'commits' : 'commit';
}

interface GitPlace {
  readonly host: string;
  readonly path: string;
}

function placeOf(repository: string): GitPlace | undefined {
  if (URL.canParse(repository)) return placeOfUrl(new URL(repository));
  const { host, path } = SCP.exec(repository)?.groups ?? {};
  return host !== undefined && path !== undefined ? { host, path } : undefined;
}

/** The port of https is that of the pages, and the port of ssh is not. */
function placeOfUrl({ protocol, host, hostname, pathname }: URL): GitPlace | undefined {
  if (protocol === 'https:') return { host, path: pathname };
  return protocol === 'ssh:' ? { host: hostname, path: pathname } : undefined;
}
