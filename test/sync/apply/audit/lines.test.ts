import { describe, expect, it } from 'vitest';
import { API_VERSION } from '../../../../src/api/version.ts';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import { objectIdOf } from '../../../../src/kube/objects/object-id.ts';
import type { ObjectOutcome } from '../../../../src/sync/apply/apply-steps.ts';
import { appliedLine, removedLine } from '../../../../src/sync/apply/audit/lines.ts';
import type { ObjectPlan } from '../../../../src/sync/apply/plan.ts';
import { NOW } from '../../../support/virtual-clock.ts';
import { COMMIT, configMap, entry } from '../fixtures.ts';

const AT = { commit: COMMIT, now: NOW };

function plan(object: KubeObject, fields: Partial<ObjectPlan> = {}): ObjectPlan {
  return {
    action: 'update',
    id: objectIdOf(object),
    unit: 'web',
    rendered: {
      object,
      source: {},
    },
    object,
    declared: object,
    ignored: [],
    forceManagers: [],
    digest: 'sha256:after',
    force: false,
    because: 'changed in git',
    ...fields,
  };
}

function applied(of: ObjectPlan): ObjectOutcome {
  return { state: 'applied', plan: of, uid: 'u', adopted: false };
}

const SECRET = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a', namespace: 'web' } };

describe('appliedLine', () => {
  it.each([
    ['create', 'Created'],
    ['update', 'Updated'],
    ['correct', 'Corrected'],
  ] as const)('S30 records the action %s as %s, with the digests before and after', (action, act) => {
    const object = configMap('a');
    const line = appliedLine(
      applied(plan(object, { action, entry: entry(object, { applied: 'sha256:b' }) })),
      AT,
    );
    expect(line).toEqual({
      type: 'object',
      at: NOW.toISOString(),
      object: 'ConfigMap default/a',
      unit: 'web',
      commit: COMMIT,
      act,
      outcome: 'Succeeded',
      because: 'changed in git',
      before: 'sha256:b',
      after: 'sha256:after',
    });
  });

  it('S30 records the reason of a refusal, and not its message, which may quote content', () => {
    const message = 'data.password: invalid value "hunter2"';
    const failed = {
      state: 'failed',
      plan: plan(configMap('a')),
      reason: 'Invalid',
      message,
      retryable: false,
    } as const;
    const line = appliedLine(failed, AT);
    expect(line).toMatchObject({ outcome: 'Failed', because: 'changed in git; Invalid' });
    expect(JSON.stringify(line)).not.toContain('hunter2');
  });

  it('S30 records no digest of a Secret, by which a short value could be guessed', () => {
    const line = appliedLine(applied(plan(SECRET, { entry: entry(SECRET) })), AT);
    expect(line).not.toHaveProperty('before');
    expect(line).not.toHaveProperty('after');
  });

  it('S30 records the versions of a MachineComponentSet, and of no other kind', () => {
    const spec = { components: [{ componentRef: 'kubelet-1.36.3' }, { componentRef: 'runc-1.3.0' }, {}] };
    const set = { apiVersion: API_VERSION, kind: 'MachineComponentSet', metadata: { name: 'base' }, spec };
    expect(appliedLine(applied(plan(set)), AT).components).toEqual(['kubelet-1.36.3', 'runc-1.3.0']);
    const other = { ...set, apiVersion: 'example.com/v1' };
    expect(appliedLine(applied(plan(other)), AT).components).toBeUndefined();
  });
});

describe('removedLine', () => {
  it('S30 records what was deleted, with the commit that no longer declares it', () => {
    const removed = { entry: entry(configMap('a')), act: 'Deleted', because: 'not in git' } as const;
    expect(removedLine(removed, AT)).toMatchObject({
      object: 'ConfigMap default/a',
      commit: COMMIT,
      act: 'Deleted',
      outcome: 'Succeeded',
      before: removed.entry.applied,
      because: 'not in git',
    });
  });
});
