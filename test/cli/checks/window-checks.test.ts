import { describe, expect, it } from 'vitest';
import { createCommitChecks } from '../../../src/cli/checks/commit-checks.ts';
import { findWindowProblems } from '../../../src/cli/checks/window-checks.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';

function pipeline(timeZone: unknown, kind = 'Pipeline'): KubeObject {
  const windows = [{ name: 'work', start: '09:00', end: '17:00', timeZone }];
  const stages = [{ name: 'test' }, { name: 'prod', windows }];
  return { apiVersion: 'kubenode.dev/v1alpha1', kind, metadata: { name: 'fleet' }, spec: { stages } };
}

describe('S36 a window with an unknown time zone', () => {
  const problem = {
    path: 'spec.stages[1].windows[0].timeZone',
    message: 'unknown time zone Europe/Berln: use a name such as Europe/Berlin',
  };

  it('is refused with its path, before it would keep a stage closed for ever', () => {
    expect(findWindowProblems(pipeline('Europe/Berln'))).toEqual([problem]);
    expect(createCommitChecks().schema(pipeline('Europe/Berln'))).toContainEqual(problem);
  });

  it('is refused in a component set, too', () => {
    const windows = [{ name: 'night', start: '01:00', end: '05:00', timeZone: 'Europe/Berln' }];
    const set = { ...pipeline('UTC', 'MachineComponentSet'), spec: { rollout: { windows } } };
    const path = 'spec.rollout.windows[0].timeZone';
    expect(findWindowProblems(set)).toEqual([{ ...problem, path }]);
  });

  it('is refused in a hosted cluster, too', () => {
    const windows = [{ name: 'night', start: '01:00', end: '05:00', timeZone: 'Europe/Berln' }];
    const cluster = { ...pipeline('UTC', 'Cluster'), spec: { hosted: { upgrade: { windows } } } };
    const path = 'spec.hosted.upgrade.windows[0].timeZone';
    expect(findWindowProblems(cluster)).toEqual([{ ...problem, path }]);
  });

  it.each([
    ['a known time zone', pipeline('Europe/Berlin')],
    ['UTC', pipeline('UTC')],
    ['what the schema refuses', pipeline(7)],
    ['another kind', pipeline('Europe/Berln', 'MachineSet')],
  ])('is not reported for %s', (_, object) => {
    expect(findWindowProblems(object)).toEqual([]);
  });
});
