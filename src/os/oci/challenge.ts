/** Reads what a registry requires of a client that it does not know: the header WWW-Authenticate. Pure. */
import { registryOrigin } from './reference.ts';

export type RegistryChallenge =
  | { readonly scheme: 'Basic' }
  | { readonly scheme: 'Bearer'; readonly realm: string; readonly query: string };

/** Undefined: the registry requires nothing that this client can give. */
export function parseChallenge(header: string | null, scope: string): RegistryChallenge | undefined {
  const [, scheme = '', rest = ''] = /^\s*(\w+)(?:\s+(.*))?$/.exec(header ?? '') ?? [];
  if (scheme.toLowerCase() === 'basic') return { scheme: 'Basic' };
  if (scheme.toLowerCase() !== 'bearer') return undefined;
  const parameters = new Map(
    [...rest.matchAll(/(\w+)\s*=\s*"([^"]*)"/g)].map(([, name = '', value = '']) => [name, value]),
  );
  const realm = parameters.get('realm');
  if (realm === undefined || !URL.canParse(realm)) return undefined;
  const service = parameters.get('service');
  const query = new URLSearchParams({
    ...(service !== undefined && { service }),
    scope: parameters.get('scope') ?? scope,
  });
  return { scheme: 'Bearer', realm, query: query.toString() };
}

/** Credentials are sent without TLS only from a registry on this machine to another program on it. */
export function mayAskForToken(origin: string, realm: string): boolean {
  const { protocol, host } = new URL(realm);
  if (protocol === 'https:') return true;
  return protocol === 'http:' && origin.startsWith('http:') && registryOrigin(host).startsWith('http:');
}
