import { describe, expect, it } from 'vitest';
import { formatTree } from '../../../../src/views/status/tree/text.ts';
import type { ClusterTree } from '../../../../src/views/status/tree/tree.ts';
import { COMMIT, HEALTHY, NOW } from '../../../cli/commands/builders.ts';

const SINCE = '2030-01-01T11:57:00.123Z';

const TREE: ClusterTree = {
  cluster: {
    name: 'prod-eu',
    stage: 'prod',
    commit: COMMIT,
    state: 'Failed',
    synced: 'False',
    ...HEALTHY,
    because:
      'Deployment web/frontend: Progressing=False, the image registry.example.com/web/frontend:1.1.0 cannot be pulled',
    since: SINCE,
  },
  conditions: [
    { names: ['Healthy'], count: 1, state: 'Healthy=False', because: 'why', since: SINCE, unblock: '' },
  ],
  units: [
    {
      names: ['shop', 'web'],
      count: 2,
      state: 'Held',
      because: 'deletes are held',
      since: SINCE,
      unblock: 'kubenode release acknowledge prod-eu --reason TEXT, which prints what to commit',
    },
    {
      names: ['cache'],
      count: 1,
      state: 'not as in git',
      because: '',
      unblock: '',
      objects: [
        {
          names: ['apps/StatefulSet web/redis'],
          count: 1,
          state: 'Invalid',
          because: 'the server refuses a storage class that is not declared anywhere in it',
          since: SINCE,
          unblock: 'fix the object and commit, or revert the commit',
        },
        { names: ['Service web/redis'], count: 1, state: 'Invalid', because: 'port 0', unblock: '' },
      ],
    },
  ],
  objects: [
    {
      names: ['apps/Deployment web/a', 'apps/Deployment web/b'],
      count: 2,
      state: 'Waiting',
      because: 'Namespace web was deleted at 2030-01-01T11:59:00.5Z',
      since: SINCE,
      unblock: 'no action required once what it waits for is there',
    },
    { names: [], count: 3, state: 'Failed', because: 'not listed', unblock: 'fix those above first' },
    { names: [], count: 27, state: 'Applied', because: '27 objects as in git', unblock: '' },
  ],
  drift: {
    total: 14,
    objects: [
      {
        object: 'ConfigMap web/settings',
        unit: 'web',
        change: 'Changed',
        fields: ['data.color', 'data.size'],
        managers: ['kubectl-edit'],
        changedAt: '2030-01-01T11:59:47Z',
        foundAt: '2030-01-01T11:59:48Z',
        correctedAt: '2030-01-01T11:59:48Z',
        since: '2030-01-01T08:59:48Z',
        count: 14,
        commit: COMMIT,
      },
    ],
  },
  unblock: 'fix what is named and commit, or revert the commit',
};
const SIZE = { now: NOW, columns: 80, makeRunnable: (text: string) => text };

describe('formatTree', () => {
  it('shows the cluster, its units and its objects, each with why, since when and what unblocks it', () => {
    expect(formatTree(TREE, SIZE)).toBe(`prod-eu: Failed 2m, stage prod, commit aaaaaaaaaaaa
  health: Healthy
  Deployment web/frontend: Progressing=False, the image
  registry.example.com/web/frontend:1.1.0 cannot be pulled
  unblocks: fix what is named and commit, or revert the commit
  Healthy=False for 2m: why

units
├─ shop and web: Held 2m
│    deletes are held
│    unblocks: kubenode release acknowledge prod-eu --reason TEXT, which prints
│    what to commit
└─ cache: not as in git
   ├─ apps/StatefulSet web/redis: Invalid 2m
   │    the server refuses a storage class that is not declared anywhere in it
   │    unblocks: fix the object and commit, or revert the commit
   └─ Service web/redis: Invalid
        port 0

objects
├─ apps/Deployment web/a and apps/Deployment web/b: Waiting 2m
│    Namespace web was deleted 59s ago
│    unblocks: no action required once what it waits for is there
├─ 3 more: Failed
│    not listed
│    unblocks: fix those above first
└─ 27 objects as in git

drift corrected
└─ ConfigMap web/settings: changed, written back 12s ago, 14 times in 3h
     data.color, data.size: by kubectl-edit 13s ago
     as in commit aaaaaaaaaaaa, unit web
     if it goes on: stop kubectl-edit, or remove these fields from git
`);
  });

  it.each([80, 60])('fits into %d columns', (columns) => {
    const lines = formatTree(TREE, { ...SIZE, columns }).split('\n');
    expect(lines.filter((line) => line.length > columns)).toEqual([]);
  });

  it('prints commands that run here', () => {
    const text = formatTree(TREE, {
      ...SIZE,
      columns: 120,
      makeRunnable: (hint: string) => hint.replace('kubenode', 'npx kubenode'),
    });
    expect(text).toContain('unblocks: npx kubenode release acknowledge');
  });

  it('is three lines for a cluster without anything in the way', () => {
    const cluster = {
      ...TREE.cluster,
      state: 'Proven',
      because: 'healthy and in sync at 2030-01-01T11:59:00Z',
    };
    const text = formatTree(
      { cluster, conditions: [], units: [], objects: [], drift: { objects: [] }, unblock: '' },
      SIZE,
    );
    expect(text).toBe(
      'prod-eu: Proven 2m, stage prod, commit aaaaaaaaaaaa\n  health: Healthy\n  healthy and in sync 60s ago\n',
    );
  });
});
