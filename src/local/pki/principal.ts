/** The identity in a client certificate. Pure. */
import { AGENT_GROUP, AGENT_USER_PREFIX, NODE_USER_PREFIX, serviceAccountUser } from '../../api/names.ts';
import { PRINCIPALS } from '../../api/principals.ts';

export interface Principal {
  readonly user: string;
  readonly groups?: readonly string[];
}

/** A user with the groups that the API server assigns to it, and additional groups. */
export function createPrincipal(name: string, additionalGroups: readonly string[] = []): Principal {
  const user = PRINCIPALS.some((principal) => principal === name) ? serviceAccountUser(name) : name;
  return { user, groups: [...implicitGroups(user), ...additionalGroups] };
}

function implicitGroups(user: string): string[] {
  const [, namespace] = /^system:serviceaccount:([^:]+):[^:]+$/.exec(user) ?? [];
  if (namespace !== undefined) return ['system:serviceaccounts', `system:serviceaccounts:${namespace}`];
  if (user.startsWith(AGENT_USER_PREFIX)) return [AGENT_GROUP];
  if (user.startsWith(NODE_USER_PREFIX)) return ['system:nodes'];
  return [];
}
