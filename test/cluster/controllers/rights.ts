/** Takes rights of roles away, to see that the part that has them misses them. */
import { expect } from 'vitest';
import type { Rights } from '../../../src/api/roles/controllers.ts';
import type { PolicyRule } from '../../../src/api/roles/rbac.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { optional } from '../../../src/kube/objects/optional.ts';
import { isAllowed } from '../api/access-review.ts';
import { resources } from '../api/resources.ts';

interface RoleObject extends KubeObject {
  readonly rules: readonly PolicyRule[];
}

/** One verb on one resource, in all of the cluster or in one namespace; of some, on one object only. */
export interface Right {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly namespace?: string;
  readonly name?: string;
}

export function rightsIn({ cluster, namespaced = {} }: Rights): readonly Right[] {
  return [
    ...cluster.flatMap((rule) => rightsOf(rule)),
    ...Object.entries(namespaced).flatMap(([namespace, rules]) =>
      rules.flatMap((rule) => rightsOf(rule).map((right) => ({ ...right, namespace }))),
    ),
  ];
}

function rightsOf({ apiGroups, resources: kinds, verbs, resourceNames }: PolicyRule): readonly Right[] {
  return apiGroups.flatMap((group) =>
    kinds.flatMap((resource) =>
      verbs.flatMap((verb) =>
        (resourceNames ?? [undefined]).map((name) => ({ verb, group, resource, ...optional('name', name) })),
      ),
    ),
  );
}

/** Removes every rule of the role that names one of the resources. Returns what gives them back. */
export async function withoutRights(
  admin: Client,
  role: string,
  ...removed: readonly string[]
): Promise<() => Promise<void>> {
  return await withRules(admin, { name: role }, (rules) =>
    rules.filter((rule) => !rule.resources.some((resource) => removed.includes(resource))),
  );
}

/** Removes these rights of the account, and no others. Returns what gives them back. */
export async function withoutRight(
  admin: Client,
  account: string,
  ...rights: readonly Right[]
): Promise<() => Promise<void>> {
  const namespaces = [...new Set(rights.map(({ namespace }) => namespace))];
  const givesBack = await Promise.all(
    namespaces.map((namespace) => {
      const role = { name: account, ...optional('namespace', namespace) };
      const own = rights.filter((right) => right.namespace === namespace);
      return withRules(admin, role, (rules) => rulesWithout(rules, own, account));
    }),
  );
  return async () => {
    await Promise.all(givesBack.map((giveBack) => giveBack()));
  };
}

function rulesWithout(
  rules: readonly PolicyRule[],
  removed: readonly Right[],
  account: string,
): readonly PolicyRule[] {
  const all = rules.flatMap((rule) => rightsOf(rule));
  const missing = removed.find((right) => !all.some((each) => isSame(each, right)));
  if (missing) throw new Error(`role ${account} has no right to ${missing.verb} ${missing.resource}`);
  return rules.flatMap((rule) => {
    const left = rightsOf(rule).filter((each) => !removed.some((right) => isSame(each, right)));
    if (left.length === rightsOf(rule).length) return [rule];
    return left.map(({ verb, group, resource, name }) => ({
      apiGroups: [group],
      resources: [resource],
      verbs: [verb],
      ...(name === undefined ? {} : { resourceNames: [name] }),
    }));
  });
}

/** The one with this text. */
export function rightTo(rights: readonly Right[], text: string): Right {
  const found = rights.find((right) => textOf(right) === text);
  if (!found) throw new Error(`the account has no right to ${text}`);
  return found;
}

export function textOf({ verb, resource }: Right): string {
  return `${verb} ${resource}`;
}

/** Rights that the API server refused to an account, as `kubenode controllers` logged them: `kubenode-machine: list pods`. Sorted. */
export function missedRights(log: string): readonly string[] {
  const refusals = /:(?<account>kubenode-[a-z]+)\W+cannot (?<right>\w+ resource \W+[\w/]+)/g;
  const texts = [...log.matchAll(refusals)].map(
    ({ groups = {} }) => `${groups['account']}: ${groups['right']?.replace(/ resource \W+/, ' ')}`,
  );
  return [...new Set(texts)].toSorted();
}

/** What `missedRights` returns when the account misses these. */
export function expectedMisses(account: string, ...rights: readonly Right[]): readonly string[] {
  return rights.map((right) => `${account}: ${textOf(right)}`).toSorted();
}

/** Waits until the server, which reads roles from a cache, answers the account like that. */
export async function rightInForce(account: Client, right: Right, expected: boolean): Promise<void> {
  const [resource = '', subresource] = right.resource.split('/');
  const permission = { ...right, resource, ...(subresource === undefined ? {} : { subresource }) };
  await expect.poll(() => isAllowed(account, permission)).toBe(expected);
}

function isSame(one: Right, other: Right): boolean {
  const isSameKind = one.group === other.group && one.resource === other.resource;
  return isSameKind && one.verb === other.verb && one.name === other.name;
}

async function withRules(
  admin: Client,
  role: { readonly name: string; readonly namespace?: string },
  change: (rules: readonly PolicyRule[]) => readonly PolicyRule[],
): Promise<() => Promise<void>> {
  const resource = role.namespace === undefined ? resources.ClusterRole : resources.Role;
  const { rules } = await admin.get<RoleObject>(resource, role);
  const changed = change(rules);
  const setRules = async (body: readonly PolicyRule[]): Promise<void> => {
    await admin.patch(resource, role, { type: 'merge', body: { rules: body } });
  };
  if (changed.length === rules.length && changed.every((rule, index) => rule === rules[index])) {
    throw new Error(`role ${role.name} has no such right`);
  }
  await setRules(changed);
  return () => setRules(rules);
}
