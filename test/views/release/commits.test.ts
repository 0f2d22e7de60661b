import { describe, expect, it } from 'vitest';
import { commitViews } from '../../../src/views/release/commits.ts';
import { COMMIT, pipeline, release } from '../../cli/commands/builders.ts';

const STATUS = {
  phase: 'Promoting',
  stages: [
    {
      name: 'pre',
      state: 'Proven',
      startedAt: '2030-01-01T11:50:00Z',
      provenAt: '2030-01-01T11:55:00Z',
      soakUntil: '2030-01-01T11:55:00Z',
      clusters: { total: 1, proven: 1 },
    },
    {
      name: 'prod',
      state: 'Soaking',
      startedAt: '2030-01-01T11:55:00Z',
      soakUntil: '2030-01-01T12:10:00Z',
      clusters: { total: 2, proven: 1 },
    },
    {
      name: 'edge',
      state: 'Waiting',
      waiting: {
        reason: 'ApprovalRequired',
        since: '2030-01-01T11:56:00Z',
        message: 'edge needs\nan approval',
      },
    },
  ],
};

const SOURCE = { repository: 'https://git.example.com/team/fleet.git' };
const PIPELINE = { ...pipeline({}), spec: { stages: [], source: SOURCE } } as never;

describe('commitViews', () => {
  it('shows how far a commit is in each stage, until when it soaks and what it waits for', () => {
    const [view] = commitViews([release(STATUS)], [PIPELINE]);
    expect(view).toMatchObject({
      commit: COMMIT.slice(0, 12),
      pipeline: 'fleet',
      phase: 'Promoting',
      subject: 'shop 1.1',
    });
    expect(view?.link).toBe(`https://git.example.com/team/fleet/commit/${COMMIT}`);
    expect(view?.stages).toEqual([
      {
        name: 'pre',
        state: 'Proven',
        since: '2030-01-01T11:55:00Z',
        proven: 1,
        total: 1,
        plan: '',
        because: '',
      },
      {
        name: 'prod',
        state: 'Soaking',
        since: '2030-01-01T11:55:00Z',
        soakUntil: '2030-01-01T12:10:00Z',
        proven: 1,
        total: 2,
        plan: '',
        because: '',
      },
      {
        name: 'edge',
        state: 'Waiting',
        since: '2030-01-01T11:56:00Z',
        proven: 0,
        total: 0,
        plan: '',
        because: String.raw`edge needs\nan approval`,
      },
    ]);
  });

  it('shows what the commit changes in a stage in the words of kubenode release', () => {
    const object = release(STATUS);
    const stages = [{ name: 'prod', clusters: 2, changed: 1, creates: 3, updates: 4, deletes: 0 }];
    const planned = { ...object, spec: { ...object.spec, plan: { ...object.spec.plan, stages } } };
    const plans = commitViews([planned], []).flatMap((view) => view.stages.map(({ plan }) => plan));
    expect(plans).toEqual(['', '1 of 2 clusters change; objects: 3 created, 4 updated, 0 deleted', '']);
  });

  it('shows a release that nothing was reported of yet', () => {
    expect(commitViews([release({})], [])[0]).toMatchObject({ phase: 'Pending', stages: [] });
  });
});
