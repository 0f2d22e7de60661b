/** Which requests the console answers. Pure. */
import { isIP } from 'node:net';

export interface RequestHead {
  readonly method: string | undefined;
  readonly host: string | undefined;
  /** The header Sec-Fetch-Site. Undefined: not sent by a browser, or by one without TLS. */
  readonly fetchSite?: string | undefined;
  /** Whether the request reads data of the fleet, and not a file of the page. */
  readonly isForData?: boolean;
}

export interface RefusedRequest {
  readonly status: 400 | 403 | 405 | 421;
  readonly because: string;
}

/**
 * A page of another site can point its own name at our address, and its requests then carry that name in Host (DNS rebinding). So only
 * addresses, localhost and the name that the console was started with are accepted. Any port, because ports are forwarded.
 */
export function refuseRequest(
  { method, host, ...fetched }: RequestHead,
  ownHost: string,
): RefusedRequest | undefined {
  if (isFromOtherSite(fetched)) {
    return { status: 403, because: 'the console sends no data to pages of other sites' };
  }
  if (method !== 'GET' && method !== 'HEAD') {
    return { status: 405, because: 'the console is read-only: only GET and HEAD are allowed' };
  }
  const name = hostName(host);
  if (name === undefined) return { status: 400, because: 'expected a Host header' };
  if (isIP(name) > 0 || name === 'localhost' || name === ownHost.toLowerCase()) return undefined;
  return { status: 421, because: 'the console does not answer under this host name: use its address' };
}

/** Another site could not read the answer, but each of its requests would take a turn from people. */
function isFromOtherSite({
  fetchSite,
  isForData = false,
}: Pick<RequestHead, 'fetchSite' | 'isForData'>): boolean {
  return isForData && fetchSite === 'cross-site';
}

/** Without the port and the brackets of an IPv6 address. */
function hostName(host: string | undefined): string | undefined {
  const found = /^(?:\[(?<v6>[\da-f:.]+)\]|(?<name>[^:[\]/@\s]+))(?::\d{1,5})?$/i.exec(host ?? '');
  return (found?.groups?.['v6'] ?? found?.groups?.['name'])?.toLowerCase();
}

/** Nothing but our own files, and no other page may frame this one. */
export const SECURITY_HEADERS = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "img-src 'self' data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
} as const;
