import { describe, expect, it } from 'vitest';
import {
  judgeRestarts,
  podRestarts,
  restartBaselines,
} from '../../../../src/controllers/componentset/observe/pod-restarts.ts';
import { NOW } from '../../../support/builders.ts';
import { type RestartedPodParts, restartedPod } from './restarted-pod.ts';

const SINCE = new Date(NOW.getTime() - 60_000);
const MORE = 'Fail: containers restart more often than before the update:';

interface Restarted extends RestartedPodParts {
  /** When the update had ended; undefined: the Pod was not there. */
  readonly before?: number;
}

function judged(...pods: readonly Restarted[]): string {
  const named = pods.map((pod, index) => ({ ...pod, name: `p-${index}` }));
  const baselines = new Map(
    named.flatMap(({ name, before }) => (before === undefined ? [] : [[name, before]])),
  );
  const { result, because, asBefore } = judgeRestarts(
    named.map(({ name, ...pod }) => podRestarts(restartedPod(name, pod))),
    baselines,
    SINCE,
  );
  return asBefore === undefined ? `${result}: ${because}` : `${result}: ${asBefore}`;
}

describe('judgeRestarts', () => {
  it.each<[what: string, pods: readonly Restarted[], expected: string]>([
    ['no Pod', [], 'Pass: no new problem'],
    ['none since', [{ restarts: 5, ended: 61, before: 5 }], 'Pass: no new problem'],
    ['one or two, by chance', [{ restarts: 2, ended: 5 }], 'Pass: no new problem'],
    ['three of a Pod', [{ restarts: 3, ended: 5 }], `${MORE} web/p-0 (3)`],
    [
      'one each of three Pods',
      [1, 2, 3].map(() => ({ restarts: 1, ended: 5 })),
      `${MORE} web/p-0 (1), web/p-1 (1), web/p-2 (1)`,
    ],
    ['a sidecar', [{ restarts: 3, ended: 5, list: 'initContainerStatuses' }], `${MORE} web/p-0 (3)`],
    ['four, after one before', [{ restarts: 5, ended: 5, before: 1 }], `${MORE} web/p-0 (4)`],
    ['two, after one before', [{ restarts: 3, ended: 5, before: 1 }], 'Pass: no new problem'],
    ['as often as before', [{ restarts: 6, ended: 5, before: 3 }], 'Pass: restarts as before: web/p-0 (3)'],
    [
      'less often than before',
      [{ restarts: 9, ended: 5, before: 6 }],
      'Pass: restarts as before: web/p-0 (3)',
    ],
    [
      'one Pod as before, and another one newly',
      [
        { restarts: 8, ended: 5, before: 4 },
        { restarts: 3, ended: 5 },
      ],
      `${MORE} web/p-1 (3)`,
    ],
    [
      'many Pods',
      [9, 8, 7, 6, 5].map((restarts) => ({ restarts, ended: 5 })),
      `${MORE} web/p-0 (9), web/p-1 (8), web/p-2 (7), 2 more`,
    ],
    [
      'those of a Pod that came after the update, which may crash anywhere',
      [{ restarts: 9, ended: 5, started: 59, owner: 'ReplicaSet' }],
      'Pass: no new problem',
    ],
    [
      'those of a Pod without an owner that came after the update',
      [{ restarts: 9, ended: 5, started: 59 }],
      'Pass: no new problem',
    ],
    [
      'those of a Pod of a DaemonSet that came after the update',
      [{ restarts: 3, ended: 5, started: 59, owner: 'DaemonSet' }],
      `${MORE} web/p-0 (3)`,
    ],
    [
      'those of a static Pod that came after the update',
      [{ restarts: 3, ended: 5, started: 59, owner: 'Node' }],
      `${MORE} web/p-0 (3)`,
    ],
    [
      'those of the update that the kubelet reports late',
      [{ restarts: 3, ended: 61, before: 0 }],
      'Pass: no new problem',
    ],
  ])('ROL-20 ROL-21 judges a machine by restarts since its update: %s', (_what, pods, expected) => {
    expect(judged(...pods)).toBe(expected);
  });
});

describe('restartBaselines', () => {
  it.each<[what: string, pod: RestartedPodParts, before: number]>([
    ['a Pod that restarted before only', { restarts: 4, ended: 61 }, 4],
    ['a Pod of which one restart since is certain', { restarts: 4, ended: 59 }, 3],
    ['a Pod that was started since', { restarts: 4, ended: 5, started: 59 }, 0],
    ['a Pod whose container ended at an unknown time', { restarts: 4 }, 4],
  ])('ROL-20 finds how often a Pod had restarted when the update ended: %s', (_what, pod, before) => {
    expect(restartBaselines([podRestarts(restartedPod('p', pod))], SINCE).get('p')).toBe(before);
  });
});
