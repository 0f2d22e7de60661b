import { describe, expect, it } from 'vitest';
import {
  type SnapshotState,
  snapshotState,
} from '../../../../../../src/controllers/hosting/drivers/workload/snapshot/state.ts';
import type { KubeObject } from '../../../../../../src/kube/objects/object.ts';

const NOW = new Date('2030-01-01T12:00:00Z');
const BEGAN = '2030-01-01T11:59:00.000Z';

function job(conditions: readonly object[] = [], takenAt = BEGAN): KubeObject {
  const annotations = { 'kubenode.dev/taken-at': takenAt };
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'etcd-snapshot', namespace: 'kn-ci', annotations },
    status: { conditions },
  };
}

function pod(status: object): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'etcd-snapshot-x', namespace: 'kn-ci', creationTimestamp: BEGAN },
    status,
  };
}

const COMPLETE = { type: 'Complete', status: 'True' };
const FAILED = { type: 'Failed', status: 'True', message: 'Job was active longer than specified deadline' };
const RUNNING = { name: 'copy', state: { running: {} } };
const VERIFYING = { name: 'verify', state: { running: {} } };
const NO_COPY = { name: 'copy', state: { terminated: { exitCode: 1, message: 'the disk is full' } } };
const FEWER_KEYS = { name: 'verify', state: { terminated: { exitCode: 1, message: 'expected 9 keys' } } };

function opening(restartCount: number): object {
  const lastState = { terminated: { exitCode: 2, message: 'panic: corrupt' } };
  return { name: 'etcd', restartCount, state: { waiting: { reason: 'CrashLoopBackOff' } }, lastState };
}

function waiting(reason: string, message?: string): object {
  return { name: 'copy', state: { waiting: { reason, ...(message === undefined ? {} : { message }) } } };
}

function unscheduled(seconds: number): object {
  const since = new Date(+NOW - seconds * 1000).toISOString();
  const condition = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable' };
  return { conditions: [{ ...condition, message: '0/3 nodes fit', lastTransitionTime: since }] };
}

function text(state: SnapshotState): string {
  if (state.type === 'Taken') return `Taken ${state.takenAt.toISOString()}`;
  if (state.type === 'Running') return ['Running', state.container ?? []].flat().join(': ');
  return `${state.type}: ${state.problem}`;
}

describe('the Job that takes a snapshot', () => {
  it.each<[name: string, job: KubeObject, pod: object | undefined, expected: string]>([
    ['has no pod yet', job([], new Date(+NOW - 29_000).toISOString()), undefined, 'Running'],
    [
      'has no pod after 30 s',
      job(),
      undefined,
      'Blocked: its Job has no pod after 30 s: kubectl -n kn-ci describe job etcd-snapshot shows why',
    ],
    ['copies the data', job(), { initContainerStatuses: [RUNNING] }, 'Running: copy'],
    [
      'counts the keys of the copy',
      job(),
      { initContainerStatuses: [{ name: 'etcd', state: { running: {} } }], containerStatuses: [VERIFYING] },
      'Running: verify',
    ],
    ['waits a moment for a node', job(), unscheduled(5), 'Running'],
    ['finds no node', job(), unscheduled(15), 'Blocked: 0/3 nodes fit'],
    [
      'cannot pull an image',
      job(),
      { initContainerStatuses: [waiting('ErrImagePull', 'not found')] },
      'Blocked: not found',
    ],
    [
      'has an image without a word about it',
      job(),
      { containerStatuses: [waiting('ImagePullBackOff')] },
      'Blocked: ImagePullBackOff',
    ],
    ['starts a container', job(), { initContainerStatuses: [waiting('PodInitializing')] }, 'Running'],
    ['opens the copy at the second try', job(), { initContainerStatuses: [opening(1)] }, 'Running'],
    [
      'has a copy that etcd does not open',
      job(),
      { initContainerStatuses: [opening(2)] },
      'Failed: etcd does not start from the copy: panic: corrupt',
    ],
    [
      'could not copy',
      job([FAILED]),
      { phase: 'Failed', initContainerStatuses: [NO_COPY] },
      'Failed: copy ended: the disk is full',
    ],
    [
      'has a copy with fewer keys',
      job([FAILED]),
      { phase: 'Failed', containerStatuses: [FEWER_KEYS] },
      'Failed: verify ended: expected 9 keys',
    ],
    ['took too long', job([FAILED]), undefined, `Failed: ${FAILED.message}`],
    ['succeeded', job([COMPLETE]), { phase: 'Succeeded' }, `Taken ${BEGAN}`],
    [
      'succeeded without the time at which it began',
      job([COMPLETE], 'unknown'),
      undefined,
      'Failed: its Job does not have the time at which it began',
    ],
    ['is about to succeed', job([{ ...COMPLETE, status: 'False' }]), { phase: 'Succeeded' }, 'Running'],
  ])('HOS-31 judges a Job that %s', (_, found, status, expected) => {
    const pods = status ? [pod(status)] : [];
    expect(text(snapshotState(found, { pods, now: NOW }))).toBe(expected);
  });
});
