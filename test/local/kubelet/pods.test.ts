import { describe, expect, it } from 'vitest';
import { type PodObject, planPods, runningPod } from '../../../src/local/kubelet/pods.ts';

function pod(name: string, phase?: string, deletionTimestamp?: string): PodObject {
  const metadata = {
    name,
    namespace: 'default',
    uid: `uid-${name}`,
    ...(deletionTimestamp && { deletionTimestamp }),
  };
  const spec = { containers: [{ name: 'main', image: 'app:1' }] };
  return { apiVersion: 'v1', kind: 'Pod', metadata, spec, ...(phase && { status: { phase } }) };
}

describe('planPods', () => {
  it.each<[name: string, pods: readonly PodObject[], expected: readonly string[]]>([
    ['reports a new pod', [pod('a', 'Pending')], ['Run a']],
    ['reports a pod without a status', [pod('a')], ['Run a']],
    ['leaves a pod that runs', [pod('a', 'Running')], []],
    ['leaves what has ended to its owner', [pod('a', 'Succeeded'), pod('b', 'Failed')], []],
    ['ends a deleted pod', [pod('a', 'Running', '2030-01-01T12:00:30Z')], ['End a']],
    ['ends a deleted pod that never ran', [pod('a', 'Pending', '2030-01-01T12:00:30Z')], ['End a']],
    ['acts in the order of names', [pod('b'), pod('a')], ['Run a', 'Run b']],
  ])('%s', (_, pods, expected) => {
    expect(planPods(pods).map((action) => `${action.type} ${action.pod.metadata.name}`)).toEqual(expected);
  });
});

describe('runningPod', () => {
  it('is ready with every container, and changes nothing of another pod with its name', () => {
    const { metadata, ...rest } = runningPod(pod('a'), new Date('2030-01-01T12:00:00.5Z'));
    expect(metadata).toEqual({ name: 'a', namespace: 'default', uid: 'uid-a' });
    expect(rest).toMatchObject({
      status: {
        phase: 'Running',
        startTime: '2030-01-01T12:00:00Z',
        containerStatuses: [{ name: 'main', image: 'app:1', ready: true, restartCount: 0 }],
      },
    });
  });
});
