/** Reads what a registry requires of a client that it does not know: the header WWW-Authenticate. Pure. */

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

/** Tells whether credentials for a registry may be sent to the server of its tokens: never without TLS, but for a registry without it. */
export function mayAskForToken(origin: string, realm: string): boolean {
  const { protocol, host } = new URL(realm);
  return protocol === 'https:' || (protocol === 'http:' && `http://${host}` === origin);
}
