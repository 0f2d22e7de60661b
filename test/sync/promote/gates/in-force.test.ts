import { describe, expect, it } from 'vitest';
import type { Pipeline, PipelineGates } from '../../../../src/api/generated/types.ts';
import {
  countedApprovals,
  type GatesContext,
  judgingPipeline,
  recordGates,
} from '../../../../src/sync/promote/gates/in-force.ts';
import { gatesOf } from '../../../../src/sync/promote/gates/strictest.ts';
import { PromotionSimulation } from '../simulation/simulation.ts';

const BASE = new PromotionSimulation().pipeline;

/** A Pipeline whose only gate is its budget, as a number of objects. */
function pipelineWith(maxObjects: number, gates?: PipelineGates, commit?: string): Pipeline {
  const annotations = commit === undefined ? {} : { 'kubenode.dev/commit': commit };
  return {
    ...BASE,
    metadata: { ...BASE.metadata, annotations },
    spec: { ...BASE.spec, deleteBudget: { maxObjects, maxPercent: 0 } },
    ...(gates ? { status: { conditions: [], gates } } : {}),
  };
}

function gatesWith(budget: number): PipelineGates['inForce'] {
  return gatesOf(pipelineWith(budget).spec);
}

function record(commit: string, inForce: number, judging?: [commits: string, budget: number]): PipelineGates {
  return {
    commit,
    inForce: gatesWith(inForce),
    ...(judging ? { judging: { commits: judging[0].split(' '), gates: gatesWith(judging[1]) } } : {}),
  };
}

function accounts(pipeline: Pipeline, gates: PipelineGates): readonly string[] {
  const { spec } = judgingPipeline({ ...pipeline, status: { conditions: [], gates } }).pipeline;
  return spec.identities.map(({ serviceAccount }) => serviceAccount);
}

const NONE: GatesContext = { newest: 'c2', live: [], released: ['c1'] };

describe('judgingPipeline', () => {
  it('S10 takes over the fields of a manager only from the commit after the one that names it', () => {
    const named = { ...BASE, spec: { ...BASE.spec, forceManagers: ['helm'] } };
    const forced = (gates?: PipelineGates): readonly string[] =>
      judgingPipeline({ ...named, ...(gates ? { status: { conditions: [], gates } } : {}) }).pipeline.spec
        .forceManagers;
    const before = { commit: 'c1', inForce: gatesOf(BASE.spec) };
    expect(forced(before)).toEqual([]);
    const added = recordGates({ ...named, status: { conditions: [], gates: before } }, NONE);
    expect(forced(added)).toEqual([]);
    const next = recordGates(
      { ...named, status: { conditions: [], gates: added } },
      { ...NONE, newest: 'c3' },
    );
    expect([forced(next), forced()]).toEqual([['helm'], ['helm']]);
  });

  it('S29 writes a unit as its account until the commit after the one that removes it, and as a new one at once', () => {
    const named = { ...BASE, spec: { ...BASE.spec, identities: [{ unit: 'web', serviceAccount: 'a/b' }] } };
    const withName = { commit: 'c1', inForce: gatesOf(named.spec) };
    expect(accounts(BASE, withName)).toEqual(['a/b']);
    const removed = recordGates({ ...BASE, status: { conditions: [], gates: withName } }, NONE);
    expect(accounts(BASE, removed)).toEqual(['a/b']);
    const next = recordGates(
      { ...BASE, status: { conditions: [], gates: removed } },
      { ...NONE, newest: 'c3' },
    );
    expect(accounts(BASE, next)).toEqual([]);
    expect(accounts(named, { commit: 'c1', inForce: gatesOf(BASE.spec) })).toEqual(['a/b']);
  });
});

describe('recordGates', () => {
  it.each<[name: string, before: Pipeline, context: Partial<GatesContext>, expected: PipelineGates]>([
    ['the own gates of the first commit', pipelineWith(9), {}, record('c2', 9)],
    ['nothing stricter while nothing changed', pipelineWith(5, record('c1', 5)), {}, record('c2', 5)],
    ['nothing stricter when the commit tightens', pipelineWith(2, record('c1', 5)), {}, record('c2', 2)],
    [
      'the gates before a commit that loosens',
      pipelineWith(9, record('c1', 5)),
      {},
      record('c2', 9, ['c2', 5]),
    ],
    [
      'older commits on their way with them',
      pipelineWith(9, record('c1', 5)),
      { live: ['c1'] },
      record('c2', 9, ['c1 c2', 5]),
    ],
    [
      'them for as long as the commit is the newest',
      pipelineWith(9, record('c2', 9, ['c2', 5])),
      { released: ['c1', 'c2'] },
      record('c2', 9, ['c2', 5]),
    ],
    [
      'them while the commit is on its way and a newer one exists',
      pipelineWith(9, record('c1', 9, ['c1', 5])),
      { live: ['c1'] },
      record('c2', 9, ['c1', 5]),
    ],
    ['nothing stricter after that', pipelineWith(9, record('c1', 9, ['c1', 5])), {}, record('c2', 9)],
    [
      'what was tightened in between as well',
      pipelineWith(3, record('c2', 9, ['c2', 5])),
      {},
      record('c2', 3),
    ],
    [
      'a commit that loosens and is not accepted here yet',
      pipelineWith(9, record('c2', 5), 'c3'),
      {},
      record('c2', 9, ['c2 c3', 5]),
    ],
    [
      'that commit until it is accepted',
      pipelineWith(9, record('c2', 9, ['c2 c3', 5]), 'c3'),
      { newest: 'c3' },
      record('c3', 9, ['c3', 5]),
    ],
    [
      'a commit of another repository only until the next one',
      pipelineWith(9, record('c2', 9, ['c2 x', 5]), 'x'),
      { newest: 'c3', released: ['c2'] },
      record('c3', 9),
    ],
  ])('records %s', (_, pipeline, context, expected) => {
    expect(recordGates(pipeline, { ...NONE, ...context })).toEqual(expected);
  });
});

describe('judgingPipeline', () => {
  it.each([
    ['its own', pipelineWith(9), 9],
    ['those in force until the new ones are recorded', pipelineWith(9, record('c1', 5)), 5],
    ['those before the commits on their way', pipelineWith(9, record('c2', 9, ['c2', 5])), 5],
    ['its own when they are stricter', pipelineWith(2, record('c2', 9, ['c2', 5])), 2],
  ])('judges by %s', (_, pipeline, expected) => {
    expect(judgingPipeline(pipeline).pipeline.spec.deleteBudget.maxObjects).toBe(expected);
  });
});

describe('countedApprovals', () => {
  const approval = { stage: 'prod', planDigest: 'p1', reason: 'reviewed' };
  const approved = (gates?: PipelineGates): Pipeline => ({
    ...pipelineWith(5, gates),
    spec: { ...pipelineWith(5).spec, approvals: [approval] },
  });

  it.each([
    ['of the first commit', approved(), new Set<string>(), 1],
    ['that is not in force yet', approved(record('c1', 5)), new Set<string>(), 0],
    ['of a plan with a Release of another commit', approved(record('c1', 5)), new Set(['p1']), 1],
  ])('counts one %s', (_, pipeline, others, expected) => {
    expect(countedApprovals(pipeline, others)).toHaveLength(expected);
  });
});
