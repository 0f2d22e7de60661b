import { describe, expect, it } from 'vitest';
import {
  containerDigest,
  isPodEdited,
  podRun,
  podVersion,
  programDrift,
  workloadDrift,
  workloadRun,
} from '../../../../../../src/controllers/hosting/drivers/workload/members/templates.ts';
import { memberWorkload } from '../../../../../../src/controllers/hosting/drivers/workload/objects/workloads.ts';
import { listAt, valueAt } from '../../../../../../src/kube/objects/json.ts';
import type { KubeObject } from '../../../../../../src/kube/objects/object.ts';
import { VERSION } from '../../../../../support/hosting/objects.ts';
import { IMAGE, podParts } from '../../../../../support/hosting/workload.ts';

const OTHER = `registry.example/other@sha256:${'b'.repeat(64)}`;
const MIRRORED = `mirror.example/a/b@${IMAGE.slice(IMAGE.indexOf('@') + 1)}`;

type Change = (workload: KubeObject) => void;

function workload(change: Change = () => undefined): KubeObject {
  const found = structuredClone(memberWorkload('kube-scheduler', podParts()));
  change(found);
  return found;
}

function podOf(found: KubeObject): KubeObject {
  const template = valueAt(found, 'spec', 'template') as KubeObject;
  return { ...template, apiVersion: 'v1', kind: 'Pod' };
}

function container(found: KubeObject): Record<string, unknown> {
  return listAt(found, 'spec', 'template', 'spec', 'containers')[0] as Record<string, unknown>;
}

const imaged =
  (image: string): Change =>
  (found) => {
    container(found)['image'] = image;
  };
const flagged: Change = (found) => {
  container(found)['args'] = [...listAt(container(found), 'args'), '--v=9'];
};
const scaled =
  (replicas: number): Change =>
  (found) => {
    (found['spec'] as Record<string, unknown>)['replicas'] = replicas;
  };
const reserved: Change = (found) => {
  container(found)['resources'] = { requests: { cpu: '4' } };
};

describe('what somebody edited in a workload', () => {
  it.each<readonly [name: string, change: Change, expected: string]>([
    ['nothing', () => undefined, 'none'],
    ['no replica', scaled(0), 'its Deployment has 0 replicas, not 1'],
    ['two replicas', scaled(2), 'its Deployment has 2 replicas, not 1'],
    [
      'another image',
      imaged(OTHER),
      `disruptive: its Deployment has another program or other flags, with the image ${OTHER}`,
    ],
    [
      'another flag',
      flagged,
      `disruptive: its Deployment has another program or other flags, with the image ${IMAGE}`,
    ],
    [
      'another image and two replicas',
      (found) => [scaled(2), imaged(OTHER)].forEach((change) => change(found)),
      `disruptive: its Deployment has 2 replicas, not 1, and another program or other flags, with the image ${OTHER}`,
    ],
    [
      'another image and no replica',
      (found) => [scaled(0), imaged(OTHER)].forEach((change) => change(found)),
      `its Deployment has 0 replicas, not 1, and another program or other flags, with the image ${OTHER}`,
    ],
    ['the same image of a mirror', imaged(MIRRORED), 'none'],
    ['requests, as an autoscaler does', reserved, 'none'],
  ])('is found: %s', (_, change, expected) => {
    const drift = workloadDrift(workload(change));
    expect(drift ? `${drift.isDisruptive ? 'disruptive: ' : ''}${drift.what}` : 'none').toBe(expected);
  });

  it('is told apart from replicas alone', () => {
    expect([programDrift(workload(scaled(2))), programDrift(workload(flagged)) === undefined]).toEqual([
      undefined,
      false,
    ]);
  });

  it('is not looked for in a workload of a hosting that recorded nothing', () => {
    const before = workload((found) => {
      imaged(OTHER)(found);
      (valueAt(found, 'spec', 'template', 'metadata') as Record<string, unknown>)['annotations'] = undefined;
    });
    expect(workloadDrift(before)).toBeUndefined();
    expect(workloadRun(before)).toBeUndefined();
  });
});

describe('a pod', () => {
  it('has what it was made from, and its version', () => {
    const pod = podOf(workload());
    expect([podRun(pod), workloadRun(workload())]).toEqual(['sha256:run', 'sha256:run']);
    expect([podVersion(pod), isPodEdited(pod)]).toEqual([VERSION, false]);
  });

  it.each([
    ['another image', imaged(OTHER)],
    ['another flag', flagged],
  ])('was edited when it has %s', (_, change) => {
    expect(isPodEdited(podOf(workload(change)))).toBe(true);
  });

  it('that somebody else made has no digest to compare', () => {
    const pod: KubeObject = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x' } };
    expect([isPodEdited(pod), podVersion(pod), podRun(pod)]).toEqual([false, undefined, undefined]);
  });
});

it('containerDigest tells programs apart by their image digest, command and flags', () => {
  const base = { image: IMAGE, command: ['etcd'], args: ['--a'] };
  const all = [base, { ...base, image: OTHER }, { ...base, command: ['x'] }, { ...base, args: ['--b'] }];
  expect(new Set(all.map(containerDigest)).size).toBe(4);
  expect(containerDigest({ ...base, image: MIRRORED })).toBe(containerDigest(base));
});
