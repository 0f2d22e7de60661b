/** Decides under which address a request came, and which requests of other sites are refused. Pure. */
import type { IncomingHttpHeaders } from 'node:http';
import { isIPv4 } from 'node:net';

/** The address under which a browser knows the console. */
export interface RequestSite {
  /** Scheme, name and port, as browsers send it in Origin. */
  readonly origin: string;
  /** Whether the browser came over TLS. Without it only a browser on the same machine is answered. */
  readonly isSecure: boolean;
}

/**
 * Finds the site of a request; undefined: the console has no such address. Only the public URL and names of this machine are accepted: a
 * page of another site can point its own name at our address (DNS rebinding), and without TLS a token could be read on its way.
 */
export function findRequestSite(
  host: string | undefined,
  publicUrl: URL | undefined,
): RequestSite | undefined {
  const name = host?.toLowerCase() ?? '';
  const { protocol, host: publicHost, origin } = publicUrl ?? {};
  if (origin !== undefined && isSameHost(name, publicHost, protocol)) {
    return { origin, isSecure: protocol === 'https:' };
  }
  return isLoopbackHost(name) ? { origin: `http://${name}`, isSecure: false } : undefined;
}

/** A proxy may add the port that a browser leaves out. */
function isSameHost(name: string, publicHost: string | undefined, protocol: string | undefined): boolean {
  return name === publicHost || (protocol === 'https:' && name === `${publicHost}:443`);
}

/** Tells whether this Host header names the machine of the browser itself. */
export function isLoopbackHost(host: string): boolean {
  const name = /^(?<name>\[::1\]|[\da-z.]+)(?::\d{1,5})?$/.exec(host)?.groups?.['name'];
  if (name === undefined) return false;
  return name === 'localhost' || name === '[::1]' || (isIPv4(name) && name.startsWith('127.'));
}

/** Returns why a request that changes something is refused: pages of other sites may not send one. */
export function crossSiteReason(
  headers: Pick<IncomingHttpHeaders, 'origin' | 'sec-fetch-site'>,
  site: RequestSite,
): string | undefined {
  const { origin, 'sec-fetch-site': fetchSite = 'same-origin' } = headers;
  if (origin === undefined) return 'expected the header Origin, which every browser sends';
  if (origin !== site.origin || fetchSite !== 'same-origin') return 'the request comes from another site';
  return undefined;
}
