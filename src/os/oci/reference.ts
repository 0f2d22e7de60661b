/** Parses the URL of an artifact in a registry: oci://REGISTRY/REPOSITORY[:TAG][@sha256:MANIFEST]. Pure. */

export interface OciReference {
  /** Host, and port if there is one. */
  readonly registry: string;
  readonly repository: string;
  /** The digest of a manifest or of an index that must list the content. A tag is for people, and is never resolved. */
  readonly manifest?: string;
}

/** The grammar of the distribution specification for names and tags. */
const REFERENCE =
  /^oci:\/\/(?<registry>[A-Za-z0-9.-]+(?::\d{1,5})?|\[[0-9A-Fa-f:]+\](?::\d{1,5})?)\/(?<repository>[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*)(?::[A-Za-z0-9_][A-Za-z0-9._-]{0,127})?(?:@(?<manifest>sha256:[0-9a-f]{64}))?$/;

export const OCI_URL_FORM = 'oci://REGISTRY/REPOSITORY[:TAG][@sha256:MANIFEST]';

export function parseOciUrl(url: string): OciReference | undefined {
  const groups = REFERENCE.exec(url)?.groups;
  if (!groups) return undefined;
  const { registry = '', repository = '', manifest } = groups;
  return { registry, repository, ...(manifest !== undefined && { manifest }) };
}

export function isOciUrl(url: string): boolean {
  return url.startsWith('oci://');
}

/** Returns the origin of the registry. As with other clients, only a registry on this machine is asked without TLS. */
export function registryOrigin(registry: string): string {
  if (registry === 'docker.io') return 'https://registry-1.docker.io';
  const isLocal = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/.test(registry);
  return `${isLocal ? 'http' : 'https'}://${registry}`;
}
