import { describe, expect, it } from 'vitest';
import { podRestarts } from '../../../../src/controllers/componentset/observe/pod-restarts.ts';
import { trimPod } from '../../../../src/controllers/componentset/observe/pod-view.ts';
import { restartedPod } from './restarted-pod.ts';

describe('trimPod', () => {
  it('ROL-20 keeps of a Pod what its restarts are counted by, and nothing else', () => {
    const pod = restartedPod('p', { restarts: 2, ended: 5, owner: 'DaemonSet' });
    const trimmed = trimPod(structuredClone(pod));
    expect(podRestarts(trimmed)).toEqual(podRestarts(pod));
    expect(trimmed.metadata).toEqual({
      name: 'p',
      namespace: 'web',
      uid: 'p',
      resourceVersion: '7',
      ownerReferences: pod.metadata.ownerReferences,
    });
    expect(JSON.stringify(trimmed)).not.toContain('app:1');
  });

  it('ROL-64 keeps only name and Node of a Pod that restarted nothing', () => {
    expect(trimPod(restartedPod('p', { node: 'm-7' }))).toEqual({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p', namespace: 'web', uid: 'p', resourceVersion: '7' },
      spec: { nodeName: 'm-7' },
    });
  });
});
