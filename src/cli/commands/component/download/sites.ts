/** Mirrors of the sites of publishers, for networks without access to these. What is declared in git stays the publisher's URL. */

export type SiteEnvironment = Readonly<Record<string, string | undefined>>;

/** The prefix that the value of the variable replaces. */
const SITES: Readonly<Record<string, string>> = {
  KUBENODE_KUBE_DOWNLOADS: 'https://dl.k8s.io/release',
  KUBENODE_GITHUB_DOWNLOADS: 'https://github.com',
  KUBENODE_GITHUB_API: 'https://api.github.com',
};

export function mirroredUrl(url: string, env: SiteEnvironment): string {
  for (const [variable, site] of Object.entries(SITES)) {
    const mirror = env[variable]?.replace(/\/+$/, '');
    if (mirror && url.startsWith(`${site}/`)) return mirror + url.slice(site.length);
  }
  return url;
}
