/** Invariants of roles and policies that need no API server. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { crds } from '../../../src/api/install/crds.ts';
import { installation } from '../../../src/api/install/installation.ts';
import { KINDS } from '../../../src/api/kinds/registry.ts';
import * as names from '../../../src/api/names.ts';
import { policies } from '../../../src/api/policies/all.ts';
import { PRINCIPALS, serviceAccounts } from '../../../src/api/principals.ts';
import { bindings, roles } from '../../../src/api/roles/all.ts';
import type { PolicyRule, Subject } from '../../../src/api/roles/rbac.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';

interface Role extends KubeObject {
  readonly rules?: readonly PolicyRule[];
}

interface Binding extends KubeObject {
  readonly roleRef: { readonly kind: string; readonly name: string };
  readonly subjects: readonly Subject[];
}

const all = roles() as readonly Role[];
const rulesOf = (kind: string) =>
  all
    .filter((role) => role.kind === kind)
    .flatMap(({ metadata, rules = [] }) => rules.map((rule) => ({ name: metadata.name, ...rule })));

describe('the installation', () => {
  it('names each object once', () => {
    const keys = installation().map(
      ({ kind, metadata }) => `${kind} ${metadata.namespace ?? ''}/${metadata.name}`,
    );
    expect(keys.filter((key, index) => keys.indexOf(key) !== index)).toEqual([]);
  });

  it('orders objects by what they depend on', () => {
    const order = [
      /^Namespace$/,
      /^CustomResourceDefinition$/,
      /^ServiceAccount$/,
      /Role$/,
      /RoleBinding$/,
      /^DefenderLedger$/,
      /^ValidatingAdmissionPolicy/,
    ];
    const places = installation().map(({ kind }) => order.findIndex((word) => word.test(kind)));
    expect(places).not.toContain(-1);
    expect(places).toEqual(places.toSorted((one, other) => one - other));
  });

  it('has a CRD for every kind', () => {
    const expected = KINDS.map(({ plural }) => `${plural}.kubenode.dev`);
    expect(sorted(crds().map(({ metadata }) => metadata.name))).toEqual(sorted(expected));
  });

  it('has the CRDs that people read in crds/', () => {
    const files = KINDS.map(({ plural }) => new URL(`../../../crds/${plural}.yaml`, import.meta.url));
    const read = files.map((file): unknown => parse(readFileSync(file, 'utf8')));
    expect(read).toHaveLength(crds().length);
    expect(read).toEqual(expect.arrayContaining([...crds()]));
  });
});

describe('roles', () => {
  it('use wildcards for kubenode kinds only', () => {
    const wildcards = [...rulesOf('ClusterRole'), ...rulesOf('Role')].filter(
      ({ apiGroups, resources, verbs }) =>
        [...apiGroups, ...resources, ...verbs].includes('*') && !apiGroups.includes('kubenode.dev'),
    );
    expect(wildcards).toEqual([]);
  });

  it('give all verbs on kubenode kinds to administrators only', () => {
    const rules = rulesOf('ClusterRole').filter(({ verbs }) => verbs.includes('*'));
    expect(rules.map(({ name }) => name)).toEqual([names.ROLE_ADMIN]);
  });

  it('never give cluster-wide access to Secrets', () => {
    const bound = (bindings() as readonly Binding[])
      .filter(({ kind }) => kind === 'ClusterRoleBinding')
      .map(({ roleRef }) => roleRef.name);
    const secrets = rulesOf('ClusterRole').filter(
      ({ name, resources }) => bound.includes(name) && resources.includes('secrets'),
    );
    expect(secrets).toEqual([]);
  });

  it('never allow escalate, and allow bind for the role of hosted control planes only', () => {
    const escalations = [...rulesOf('ClusterRole'), ...rulesOf('Role')].filter(({ verbs }) =>
      verbs.some((verb) => ['escalate', 'bind'].includes(verb)),
    );
    expect(escalations.map(({ name, resourceNames }) => [name, resourceNames])).toEqual([
      ['kubenode-hosting', ['kubenode-hosting-tenant']],
    ]);
  });

  it('exist if they are bound, and are bound to existing accounts', () => {
    const accounts = serviceAccounts().map(({ metadata }) => metadata.name);
    expect(sorted(accounts)).toEqual(sorted(PRINCIPALS));
    const bound = bindings() as readonly Binding[];
    const missingRoles = bound.filter(
      ({ metadata, roleRef }) => !all.some((role) => isRoleOf(role, roleRef, metadata.namespace)),
    );
    expect(missingRoles).toEqual([]);
    const unknownAccounts = bound
      .flatMap(({ subjects }) => subjects)
      .filter(({ kind, name }) => kind === 'ServiceAccount' && !accounts.includes(name));
    expect(unknownAccounts).toEqual([]);
  });
});

describe('policies', () => {
  const written = policies().filter(({ kind }) => kind === 'ValidatingAdmissionPolicy');

  it('are the policies that names.ts lists', () => {
    const expected = Object.entries(names).flatMap(([key, name]) =>
      key.startsWith('POLICY_') && typeof name === 'string' ? [name] : [],
    );
    expect(sorted(written.map(({ metadata }) => metadata.name))).toEqual(sorted(expected));
    expect(expected).toHaveLength(13);
  });

  it('fail closed, and have a message for people', () => {
    const validations = written.flatMap(
      ({ spec }) => (spec as { validations: readonly { message?: string; reason?: string }[] }).validations,
    );
    expect(
      written.filter(({ spec }) => (spec as { failurePolicy: string }).failurePolicy !== 'Fail'),
    ).toEqual([]);
    expect(
      validations.filter(({ message = '', reason }) => message === '' || reason !== 'Forbidden'),
    ).toEqual([]);
  });

  it('deny and audit, each by a binding of the same name', () => {
    const actions = policies()
      .filter(({ kind }) => kind === 'ValidatingAdmissionPolicyBinding')
      .map(({ metadata, spec }) => ({ name: metadata.name, ...(spec as object) }));
    const expected = written.map(({ metadata: { name } }) => ({
      name,
      policyName: name,
      validationActions: ['Deny', 'Audit'],
    }));
    expect(actions).toMatchObject(expected);
  });

  // See docs/decisions/0006-admission-policies.md.
  it('match all resources only without parameters', () => {
    const wide = written.filter(({ spec }) => JSON.stringify(spec).includes('"*/*"'));
    expect(wide.map(({ metadata }) => metadata.name)).toEqual([names.POLICY_AGENT_OWN_OBJECTS]);
    for (const { spec } of wide) expect(spec).not.toHaveProperty('paramKind');
  });

  // The API server reads all objects of the parameter kind for each request that such a policy matches.
  it('MAC-30 read all Machines for no update of a Machine or a Lease, which agents write all the time', () => {
    const rules = written
      .map(({ spec }) => spec as PolicySpec)
      .filter(({ paramKind }) => paramKind?.kind === 'Machine')
      .flatMap(({ matchConstraints }) => matchConstraints.resourceRules);
    const updated = rules.filter(({ operations }) => operations.includes('UPDATE'));
    expect(updated.flatMap(({ resources }) => resources)).toEqual([
      'remedyoperationjobs',
      'remedyoperationjobs/*',
      'nodes/status',
      'events',
      'events',
    ]);
  });
});

interface PolicySpec {
  readonly paramKind?: { readonly kind: string };
  readonly matchConstraints: {
    readonly resourceRules: readonly { readonly resources: string[]; readonly operations: string[] }[];
  };
}

function sorted(words: readonly string[]): readonly string[] {
  return words.toSorted((a, b) => a.localeCompare(b));
}

function isRoleOf(role: KubeObject, ref: Binding['roleRef'], namespace?: string): boolean {
  const isVisible = role.kind === 'ClusterRole' || role.metadata.namespace === namespace;
  return isVisible && role.kind === ref.kind && role.metadata.name === ref.name;
}
