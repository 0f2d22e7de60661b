/** The cookies of the console. Pure. */
import type { RequestSite } from './site.ts';

export interface CookieUse {
  readonly name: 'session' | 'login' | 'oidc';
  /** `Lax` is also sent when another site leads back, as an issuer does. */
  readonly sameSite: 'Strict' | 'Lax';
  readonly maxLength: number;
}

export const SESSION_COOKIE: CookieUse = { name: 'session', sameSite: 'Strict', maxLength: 128 };
export const LOGIN_COOKIE: CookieUse = { name: 'login', sameSite: 'Strict', maxLength: 128 };
export const OIDC_COOKIE: CookieUse = { name: 'oidc', sameSite: 'Lax', maxLength: 512 };

/**
 * Returns the name of a cookie. Over TLS it has a prefix with which browsers accept it from this host only, and not from a neighbor in the
 * same domain. Without TLS it has the port: cookies of one host are shared by all its ports.
 */
export function cookieName({ name }: CookieUse, { origin, isSecure }: RequestSite): string {
  return isSecure ? `__Host-kubenode-${name}` : `kubenode-${name}-${new URL(origin).port || '80'}`;
}

/** Returns the header that sets the cookie. It ends with the browser, or after `maxAgeSeconds`. */
export function formatCookie(
  use: CookieUse,
  site: RequestSite,
  { value, maxAgeSeconds }: { readonly value: string; readonly maxAgeSeconds?: number },
): string {
  const parts = [
    `${cookieName(use, site)}=${value}`,
    'Path=/',
    'HttpOnly',
    `SameSite=${use.sameSite}`,
    ...(site.isSecure ? ['Secure'] : []),
    ...(maxAgeSeconds === undefined ? [] : [`Max-Age=${maxAgeSeconds}`]),
  ];
  return parts.join('; ');
}

export function formatExpiredCookie(use: CookieUse, site: RequestSite): string {
  return formatCookie(use, site, { value: '', maxAgeSeconds: 0 });
}

/** The form of our values: random bytes, or sealed ones. */
const VALUE = /^[\w-]{16,}$/;

/** Returns the value of our cookie. Undefined: it is missing, or not one of our values. */
export function readCookie(
  header: string | undefined,
  use: CookieUse,
  site: RequestSite,
): string | undefined {
  const name = cookieName(use, site);
  for (const part of (header ?? '').split(';')) {
    const [key = '', value = ''] = part.trim().split('=', 2);
    if (key === name && value.length <= use.maxLength && VALUE.test(value)) return value;
  }
  return undefined;
}
