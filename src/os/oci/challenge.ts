/** Reads what a registry requires of a client that it does not know: the header WWW-Authenticate. Pure. */
import { registryOrigin } from './reference.ts';

export type RegistryChallenge =
  | { readonly scheme: 'Basic' }
  | { readonly scheme: 'Bearer'; readonly realm: string; readonly query: string };

/** Undefined: the registry requires nothing that this client can give. */
export function parseChallenge(header: string, scope: string): RegistryChallenge | undefined {
  const scheme = /^\s*(\w+)/.exec(header)?.[1]?.toLowerCase();
  if (scheme === 'basic') return { scheme: 'Basic' };
  return scheme === 'bearer' ? bearerChallenge(parametersOf(header), scope) : undefined;
}

function bearerChallenge(parameters: ChallengeParameters, scope: string): RegistryChallenge | undefined {
  const { realm = '', service, scope: named = '' } = parameters;
  if (!URL.canParse(realm)) return undefined;
  const query = new URLSearchParams(service === undefined ? {} : { service });
  for (const each of scopesFor(named, scope)) query.append('scope', each);
  return { scheme: 'Bearer', realm, query: query.toString() };
}

/**
 * A registry may name scopes of its own. The one that it names for the same repository may lack an action, because it is what the refused
 * request needs: a read before a push names no push.
 */
function scopesFor(named: string, scope: string): readonly string[] {
  const repository = scope.slice(0, scope.lastIndexOf(':') + 1);
  const scopes = named.split(' ').filter((each) => each !== '');
  const isNamed = scopes.some((each) => each.startsWith('repository:'));
  const others = scopes.map((each) => (each.startsWith(repository) ? scope : each));
  return isNamed ? others : [...others, scope];
}

type ChallengeParameters = Readonly<Partial<Record<'realm' | 'scope' | 'service', string>>>;

function parametersOf(header: string): ChallengeParameters {
  const parameters = header.matchAll(/(\w+)\s*=\s*"([^"]*)"/g);
  return Object.fromEntries([...parameters].map(([, name = '', value = '']) => [name, value]));
}

/** Credentials are sent without TLS only from a registry on this machine to another program on it. */
export function mayAskForToken(origin: string, realm: string): boolean {
  const { protocol, host } = new URL(realm);
  if (protocol === 'https:') return true;
  return protocol === 'http:' && origin.startsWith('http:') && registryOrigin(host).startsWith('http:');
}
