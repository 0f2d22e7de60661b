import { describe, expect, it } from 'vitest';
import {
  createRestartWatch,
  type RestartWatch,
} from '../../../../src/controllers/componentset/observe/restart-watch.ts';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import { NOW } from '../../../support/builders.ts';
import { restartedPod } from './restarted-pod.ts';

const SINCE = new Date(NOW.getTime() - 60_000);
const BATCH = { set: 'general', revision: 'r-2', index: 0 };

function bed(): { watch: RestartWatch; pods: KubeObject[]; stale: { because?: string } } {
  const pods: KubeObject[] = [];
  const stale: { because?: string } = {};
  const on = (node: string): readonly KubeObject[] => (node === 'm-1' ? pods : []);
  return { pods, stale, watch: createRestartWatch({ on, staleReason: () => stale.because }) };
}

describe('createRestartWatch', () => {
  it('ROL-20 counts the restarts of a Pod from the end of the update on, not those before', () => {
    const { watch, pods } = bed();
    pods.push(restartedPod('p', { restarts: 1, ended: 300 }));
    expect(watch.patrol('m-1', SINCE, BATCH).result).toBe('Pass');
    pods.splice(0, 1, restartedPod('p', { restarts: 4, ended: 5 }));
    expect(watch.patrol('m-1', SINCE, BATCH)).toMatchObject({ result: 'Fail' });
    expect(watch.patrol('m-2', SINCE, BATCH)).toMatchObject({ result: 'Pass' });
  });

  it('ROL-20 counts a Pod that did not restart before', () => {
    const { watch, pods } = bed();
    watch.patrol('m-1', SINCE, BATCH);
    pods.push(restartedPod('p', { restarts: 3, ended: 5 }));
    expect(watch.patrol('m-1', SINCE, BATCH).result).toBe('Fail');
  });

  it('ROL-21 does not fail a machine whose Pod restarts as before, and names it', () => {
    const { watch, pods } = bed();
    pods.push(restartedPod('p', { restarts: 7, ended: 300 }));
    watch.patrol('m-1', SINCE, BATCH);
    pods.splice(0, 1, restartedPod('p', { restarts: 11, ended: 5 }));
    expect(watch.patrol('m-1', SINCE, BATCH)).toMatchObject({
      result: 'Pass',
      asBefore: 'restarts as before: web/p (4)',
    });
  });

  it('ROL-20 takes what was counted from the end of the newest update on', () => {
    const { watch, pods } = bed();
    pods.push(restartedPod('p', { restarts: 3, ended: 40, started: 55, owner: 'DaemonSet' }));
    expect(watch.patrol('m-1', SINCE, BATCH).result).toBe('Fail');
    const next = { ...BATCH, index: 1 };
    expect(watch.patrol('m-1', new Date(NOW.getTime() - 30_000), next).result).toBe('Pass');
  });

  it('ROL-20 takes the baseline again when the batch was closed meanwhile', () => {
    const { watch, pods } = bed();
    watch.patrol('m-1', SINCE, BATCH);
    pods.push(restartedPod('p', { restarts: 4, ended: 5 }));
    expect(watch.patrol('m-1', SINCE, BATCH).result).toBe('Fail');
    watch.forget('general');
    // What another process would find: one restart is certain.
    expect(watch.patrol('m-1', SINCE, BATCH).result).toBe('Pass');
  });

  it('ROL-20 does not know the restarts while Pods are not observed', () => {
    const { watch, stale } = bed();
    stale.because = 'Pod: no contact with the API server for 151 s';
    expect(watch.patrol('m-1', SINCE, BATCH)).toEqual({
      result: 'Unknown',
      because: 'restarts of its Pods are not known: Pod: no contact with the API server for 151 s',
    });
  });

  it('ROL-20 does not know the restarts of a machine that does not report when its update ended', () => {
    const { watch, pods } = bed();
    expect(watch.patrol('m-1', undefined, BATCH).result).toBe('Pass');
    pods.push(restartedPod('p', { restarts: 1, ended: 5 }));
    expect(watch.patrol('m-1', undefined, BATCH).result).toBe('Unknown');
  });
});
