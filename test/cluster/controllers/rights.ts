/** Takes rights of roles away, to see that the part that has them misses them. */
import { expect } from 'vitest';
import type { Rights } from '../../../src/api/roles/controllers.ts';
import type { PolicyRule } from '../../../src/api/roles/rbac.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { optional } from '../../../src/kube/objects/optional.ts';
import { isAllowed } from '../api/access-review.ts';
import { resources } from '../api/resources.ts';
import { PATIENCE } from './machine-cluster.ts';

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

/** Removes one right of the account, and no other. Returns what gives it back. */
export async function withoutRight(
  admin: Client,
  account: string,
  right: Right,
): Promise<() => Promise<void>> {
  const role = { name: account, ...optional('namespace', right.namespace) };
  return await withRules(admin, role, (rules) =>
    rules.flatMap((rule) => {
      const left = rightsOf(rule).filter((each) => !isSame(each, right));
      if (left.length === rightsOf(rule).length) return [rule];
      return left.map(({ verb, group, resource, name }) => ({
        apiGroups: [group],
        resources: [resource],
        verbs: [verb],
        ...(name === undefined ? {} : { resourceNames: [name] }),
      }));
    }),
  );
}

/** Rights that the API server refused to an account, as `kubenode controllers` logged them: `kubenode-machine: list pods`. */
export function missedRights(log: string): readonly string[] {
  const refusals = /:(?<account>kubenode-[a-z]+)\W+cannot (?<right>\w+ resource \W+[\w/]+)/g;
  const texts = [...log.matchAll(refusals)].map(
    ({ groups = {} }) => `${groups['account']}: ${groups['right']?.replace(/ resource \W+/, ' ')}`,
  );
  return [...new Set(texts)];
}

/** Waits until the server, which reads roles from a cache, answers the account like that. */
export async function rightInForce(account: Client, right: Right, expected: boolean): Promise<void> {
  const [resource = '', subresource] = right.resource.split('/');
  const permission = { ...right, resource, ...(subresource === undefined ? {} : { subresource }) };
  await expect.poll(() => isAllowed(account, permission), PATIENCE).toBe(expected);
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
