import { describe, expect, it } from 'vitest';
import type { KubeObject, ManagedFields } from '../../../../src/kube/objects/object.ts';
import { isOwnedByForced } from '../../../../src/sync/apply/ownership/forced-managers.ts';

function map(data: Record<string, string>, managedFields: readonly ManagedFields[] = []): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', managedFields }, data };
}

function owner(manager: string, ...fields: readonly string[]): ManagedFields {
  const data = Object.fromEntries(fields.map((field) => [`f:${field}`, {}]));
  return { manager, operation: 'Update', fieldsV1: { 'f:data': data } };
}

const desired = map({ a: 'git', b: 'git' });

describe('isOwnedByForced', () => {
  it.each<[name: string, live: KubeObject, forced: readonly string[], expected: boolean]>([
    ['takes what a named manager owns', map({ a: 'x', b: 'git' }, [owner('helm', 'a')]), ['helm'], true],
    [
      'takes what several named managers own',
      map({ a: 'x', b: 'y' }, [owner('helm', 'a'), owner('kubectl', 'b')]),
      ['kubectl', 'helm'],
      true,
    ],
    [
      'takes nothing if one of the fields belongs to a manager that is not named',
      map({ a: 'x', b: 'y' }, [owner('helm', 'a'), owner('kubectl', 'b')]),
      ['helm'],
      false,
    ],
    [
      'takes nothing of a field that two own, and one is not named',
      map({ a: 'x', b: 'git' }, [owner('helm', 'a'), owner('kubectl', 'a')]),
      ['helm'],
      false,
    ],
    [
      'does not ask managers that own only fields as in git, or fields that git does not set',
      map({ a: 'x', b: 'git', c: 'y' }, [owner('helm', 'a'), owner('kubectl', 'b', 'c')]),
      ['helm'],
      true,
    ],
    ['takes nothing without a list', map({ a: 'x', b: 'git' }, [owner('helm', 'a')]), [], false],
    ['takes nothing while the owners are unknown', map({ a: 'x', b: 'git' }), ['helm'], false],
    ['does not take a part of a name', map({ a: 'x', b: 'git' }, [owner('helm-v2', 'a')]), ['helm'], false],
  ])('%s', (_name, live, forced, expected) => {
    expect(isOwnedByForced(desired, live, forced)).toBe(expected);
  });
});
