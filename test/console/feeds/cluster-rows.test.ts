import { describe, expect, it } from 'vitest';
import { LABEL_MACHINESET, LABEL_POOL } from '../../../src/api/names.ts';
import {
  grantLines,
  limitLines,
  machineTile,
  repairCards,
  rolloutCard,
} from '../../../src/console/feeds/cluster-rows.ts';
import { JOB, JOB_STORIES, jobStory } from '../../cli/commands/remedy/stories.ts';
import { STORIES } from '../../cli/commands/rollout/stories.ts';
import { ago, condition, machine, NOW } from '../../support/builders.ts';

describe('machineTile', () => {
  it('has no wait for a machine that is Ready', () => {
    const ready = machine('m-1', { spec: { zone: 'a' }, status: { phase: 'Ready' } });
    expect(machineTile(ready)).toEqual({
      p: 'Ready',
      z: 'a',
      s: Date.parse(ago(3600)) / 1000,
      v: 'kubelet-1.34.2',
    });
  });

  it('has the pool of the machine, or the set that it belongs to', () => {
    const labels = [
      { [LABEL_POOL]: 'gpu', [LABEL_MACHINESET]: 'gpu-a' },
      { [LABEL_MACHINESET]: 'gpu-a' },
      {},
    ];
    const tiles = labels.map((each) => machineTile(machine('m-1', { metadata: { labels: each } })));
    expect(tiles.map(({ l }) => l)).toEqual(['gpu', 'gpu-a', undefined]);
  });

  it('has the reason, its words and what ends it for one that is not', () => {
    const conditions = [condition('AgentReady', 'False', { reason: 'AgentSilent', message: 'no heartbeat' })];
    const silent = machine('m-1', { status: { phase: 'Unreachable', conditions } });
    expect(machineTile(silent)).toMatchObject({
      p: 'Unreachable',
      why: {
        reason: 'AgentSilent',
        because: 'no heartbeat',
        unblock: expect.stringContaining('kubenode machine show m-1') as string,
      },
    });
  });

  it.each([
    ['kubenode, with its grant', { grant: 'g-7-0' }, { g: 'g-7-0' }],
    ['others', {}, {}],
  ])('shows that the Node is cordoned by %s, and since when', (_, reported, mark) => {
    const cordon = { ...reported, since: '2026-03-02T09:00:00Z' };
    const tile = machineTile(machine('m-1', { status: { phase: 'Ready', node: { uid: 'u', cordon } } }));
    expect(tile.c).toEqual({ ...mark, s: Date.parse(cordon.since) / 1000 });
  });

  it('shows no cordon that a person has removed from a Node that is being drained', () => {
    const status = { phase: 'Updating', drain: { state: 'Draining' }, node: { uid: 'u' } } as const;
    expect(machineTile(machine('m-1', { status }))).not.toHaveProperty('c');
  });

  it('of 10,000 machines takes at most 1.5 MB, so that a page opens in a second', () => {
    const tiles = Array.from({ length: 10_000 }, (_, index) => {
      const name = `prod-pool-a-${String(index).padStart(5, '0')}`;
      return [`prod/${name}`, machineTile(machine(name, { spec: { zone: 'zone-a' } }))];
    });
    expect(JSON.stringify(Object.fromEntries(tiles)).length).toBeLessThan(1_500_000);
  });
});

describe('rolloutCard', () => {
  it('names the batch as the commands do, and the machines in work', () => {
    const inWork = [
      { name: 'm-2', componentRef: 'kubelet-1.31.4', state: 'Activating', because: 'starting' },
    ];
    expect(rolloutCard('prod', STORIES['a batch in work'], inWork, NOW)).toMatchObject({
      cluster: 'prod',
      set: 'general-nodes',
      phase: 'Rolling',
      state: 'Running',
      batch: { place: '2 of 3', size: 5, updated: 3, failed: 0 },
      selected: 16,
      updated: 3,
      changes: ['kubelet-1.31.3 to kubelet-1.31.4'],
      inWork: [{ machine: 'm-2', state: 'Activating', because: 'starting' }],
    });
  });

  it('has the revisions that the set had, and none for a set without a history', () => {
    const set = STORIES['a batch in work'];
    const history = [
      { revision: 'r-1', components: ['kubelet 1.31.3'], result: 'Completed', finishedAt: ago(60) },
    ];
    const recorded = { ...set, status: { conditions: [], ...set.status, history } } as typeof set;
    const unrecorded = { ...set, status: { conditions: [], ...set.status, history: [] } };
    expect(rolloutCard('prod', recorded, [], NOW).revisions).toEqual([
      { revision: 'r-1', components: 'kubelet 1.31.3', result: 'Completed', ended: ago(60) },
    ]);
    expect(rolloutCard('prod', unrecorded, [], NOW)).not.toHaveProperty('revisions');
  });

  it('names what ends a wait for a person', () => {
    const card = rolloutCard('prod', STORIES['an approval'], [], NOW);
    expect([card.state, card.unblock]).toEqual(['NeedsPerson', 'kubenode rollout approve general-nodes']);
  });
});

describe('rolloutCard of a set with closed times', () => {
  const set = STORIES['a batch in work'];
  const sale = { name: 'sale', from: ago(60), until: ago(-3600), reason: 'sale' };

  it('S36 tells what is closed now, also by a freeze that the last change removed', () => {
    const frozen = { ...set, spec: { ...set.spec, rollout: { ...set.spec.rollout, freezes: [sale] } } };
    const inForce = { spec: '', declared: '', windows: [], freezes: [sale] };
    const removed = { ...set, status: { conditions: [], ...set.status, closedTimes: inForce } };
    for (const each of [frozen, removed]) {
      expect(rolloutCard('prod', each, [], NOW).closed).toBe(
        `now: freeze sale until ${new Date(sale.until).toISOString()}: sale`,
      );
    }
  });

  it('S36 has no closed times for a set that is never closed', () => {
    expect(rolloutCard('prod', set, [], NOW)).not.toHaveProperty('closed');
  });
});

describe('repairCards', () => {
  it('shows each job with its moments, steps and wait', () => {
    const jobs = JOB_STORIES.map((story) => jobStory(story, story.replaceAll(' ', '-')));
    const cards = Object.values(repairCards('prod', jobs));
    expect(cards).toHaveLength(jobs.length);
    for (const card of cards) {
      expect(card.cluster).toBe('prod');
      expect(card.timeline.map(({ what }) => what)).toEqual([
        'fault',
        'detected',
        'granted',
        'acted',
        'verified',
        'settled',
      ]);
      expect(card.why === undefined || card.why.unblock !== '').toBe(true);
    }
  });

  it('keeps at most 50, the open ones first', () => {
    const ended = JOB_STORIES.filter(
      (story) => repairCards('a', [jobStory(story)])[`a/${JOB}`]?.state === 'Succeeded',
    );
    const open = JOB_STORIES.filter(
      (story) => repairCards('a', [jobStory(story)])[`a/${JOB}`]?.state === 'Running',
    );
    const jobs = Array.from({ length: 60 }, (_, index) => jobStory(ended[0] ?? never(), `job-${index}`));
    const cards = repairCards('prod', [...jobs, jobStory(open[0] ?? never(), 'open')]);
    expect([Object.keys(cards).length, Object.keys(cards)[0]]).toEqual([50, 'prod/open']);
  });
});

describe('limits and grants', () => {
  it('shows each limit of a policy with its use, and the grants that are not settled', () => {
    const usage = [{ rule: 'zone', key: 'zone a', used: 1, limit: 2 }];
    const policy = { metadata: { name: 'fleet-default' }, status: { conditions: [], usage } };
    expect(limitLines('prod', [policy as unknown as Parameters<typeof limitLines>[1][number]])).toEqual({
      'prod/fleet-default/zone/zone a': {
        cluster: 'prod',
        policy: 'fleet-default',
        rule: 'zone',
        counts: 'zone a',
        used: 1,
        limit: 2,
      },
    });
    const grant = { action: 'Reboot', holder: { kind: 'RemedyOperationJob', name: 'j' }, issuedAt: ago(1) };
    const grants = {
      'm-1': { ...grant, id: 'g-7-0', state: 'Started' },
      'm-2': { ...grant, id: 'g-6-0', state: 'Settled' },
    };
    const ledger = { spec: { grants } } as unknown as Parameters<typeof grantLines>[1];
    expect(grantLines('prod', ledger)).toEqual({
      'prod/m-1': {
        cluster: 'prod',
        machine: 'm-1',
        id: 'g-7-0',
        action: 'Reboot',
        state: 'Started',
        holder: 'RemedyOperationJob j',
        since: ago(1),
      },
    });
    expect(grantLines('prod', undefined)).toEqual({});
  });
});

function never(): never {
  throw new Error('there is no such story');
}
