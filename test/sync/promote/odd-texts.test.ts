/** Texts of servers, people and git that no schema foresees: the hub has to accept every status that contains them. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Cluster, Pipeline, Release } from '../../../src/api/generated/types.ts';
import { validate } from '../../../src/api/validation/validate.ts';
import { errorOfResponse } from '../../../src/kube/client/response.ts';
import { digestOf } from '../../../src/kube/objects/digest.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { objectKey } from '../../../src/kube/objects/object-id.ts';
import type { ClusterReport, WorkReport } from '../../../src/sync/cluster-report.ts';
import type { AcceptedCommit, HeadReport } from '../../../src/sync/commits.ts';
import { settlementOf } from '../../../src/sync/health/health.ts';
import { createPromotionController } from '../../../src/sync/promote/controller.ts';
import type { CommitSource } from '../../../src/sync/promote/ports.ts';
import { checkOf, NOW } from '../../rollout/builders.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { runs } from '../../support/sweep-size.ts';
import { virtualClock } from '../../support/virtual-clock.ts';
import { clusterOf } from './builders.ts';
import { PromotionSimulation, stageOf } from './simulation/simulation.ts';

const ODD = [
  '',
  '\n',
  '\u001b[31mred',
  '\ud800',
  '😀'.repeat(300),
  'x'.repeat(257),
  'a\u0000b',
  '| x |',
  'é',
];
const oddText = fc.oneof(
  fc.constantFrom(...ODD),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ unit: 'grapheme', minLength: 240, maxLength: 1500 }),
  fc.array(fc.constantFrom(...ODD), { maxLength: 5 }).map((parts) => parts.join('')),
);
const nameText = oddText.filter((text) => text !== '');
const COMMIT = 'c'.repeat(40);
const TARGET = digestOf('content');

/** The failure of an object as apply reports it, with an answer of the server that holds the texts. */
const failure = fc
  .record({ kind: nameText, namespace: oddText, name: nameText, message: oddText, reason: oddText })
  .map(({ kind, namespace, name, message, reason }) => {
    const body = JSON.stringify({ kind: 'Status', message, reason });
    const error = errorOfResponse({ status: 403, headers: {}, body });
    const object = objectKey({ group: '', kind, namespace, name });
    return { object, reason: error.reason ?? error.code, message: error.message };
  });

const work = fc
  .record({
    state: fc.constantFrom<WorkReport['state']>('Applying', 'Applied', 'Held', 'Failed'),
    failures: fc.array(failure, { minLength: 1, maxLength: 25 }),
  })
  .map(({ state, failures }): WorkReport => {
    const { reason = '', object = '', message = '' } = failures[0] ?? {};
    const objects = { total: 30, applied: 1, pruned: 0, failed: failures.length };
    return { digest: TARGET, state, reason, message: `${object}: ${message}`, objects, failures };
  });

/** The health of an object whose condition some controller wrote. */
const health = fc
  .record({ kind: nameText, namespace: oddText, name: nameText, reason: oddText, message: oddText })
  .map(({ reason, message, ...id }): NonNullable<ClusterReport['health']> => {
    const condition = { type: 'Stalled', status: 'True', reason, message };
    const observed = {
      apiVersion: 'example.com/v1',
      metadata: { ...id },
      kind: id.kind,
      status: { conditions: [condition] },
    } as unknown as KubeObject;
    const settlement = settlementOf([{ apiVersion: 'example.com/v1', ...id, observed }]);
    return { ...settlement, digest: TARGET, observedAt: NOW };
  });

const report = fc
  .record({ work, health, version: oddText, endpoint: oddText, clusterUID: oddText, because: oddText })
  .map(
    ({ because, ...rest }): ClusterReport => ({
      reachable: true,
      identity: 'Verified',
      lastContactAt: NOW,
      synced: { status: 'Unknown', reason: 'Stale', message: because },
      ...rest,
    }),
  );

const commit = fc.record({ author: oddText, subject: oddText }).map(
  (texts): AcceptedCommit => ({
    id: COMMIT,
    targets: new Map([['x', { digest: TARGET, units: new Map([['app', TARGET]]) }]]),
    ...texts,
  }),
);

const head = fc.record(
  {
    commit: fc.constant(COMMIT),
    verdict: fc.constantFrom<HeadReport['verdict']>('Accepted', 'NotDescendant', 'RenderFailed', 'Refused'),
    message: oddText,
    unread: oddText,
  },
  { requiredKeys: ['commit', 'verdict'] },
);

interface OddTexts {
  readonly commit: AcceptedCommit;
  readonly head: HeadReport;
  readonly report: ClusterReport;
  readonly check: string;
}

/** The objects that promotion writes to the hub in a few reconciles. */
async function written({
  commit: accepted,
  head: found,
  report: observed,
  check,
}: OddTexts): Promise<KubeObject[]> {
  const stages = [stageOf({ name: 'prod', maxFailedClusters: 1, checks: [checkOf({ name: 'ok' })] })];
  const pipelines = new Map<string, Pipeline>([['fleet', new PromotionSimulation({ stages }).pipeline]]);
  const clusters = new Map<string, Cluster>([['x', clusterOf({ connection: { inCluster: true } })]]);
  const releases = new Map<string, Release>();
  const all: KubeObject[] = [];
  // What the server stores has been through JSON.
  const put = async <T extends KubeObject>(into: Map<string, T>, object: T): Promise<void> => {
    all.push(object);
    into.set(object.metadata.name, JSON.parse(JSON.stringify(object)) as T);
  };
  const clock = virtualClock(NOW);
  const commits: CommitSource = {
    accepted: async () => ({ commits: [accepted], head: found }),
    changes: async () => new Map(),
    content: async () => undefined,
  };
  const controller = createPromotionController({
    hub: {
      pipeline: async (name) => pipelines.get(name),
      pipelines: async () => [...pipelines.values()],
      clusters: async () => [...clusters.values()],
      releasesOf: async () => [...releases.values()],
      applyClusterStatus: (object) => put(clusters, object),
      applyPipelineStatus: (object) => put(pipelines, object),
      applyReleaseStatus: (object) => put(releases, object),
      createRelease: (object) => put(releases, object),
      deleteRelease: async () => undefined,
    },
    clusters: { setTarget: () => undefined, report: () => observed },
    runner: { run: async () => ({ result: 'Failed', message: check }) },
    clock,
    log: memoryLog(),
  });
  for (let reconcile = 0; reconcile < 4; reconcile += 1) {
    await controller.reconcile('fleet', commits);
    await Promise.resolve();
  }
  const before = all.length;
  await controller.reconcile('fleet', commits);
  expect(all.slice(before).map(({ kind }) => kind)).toEqual([]);
  return all;
}

describe('the statuses that promotion writes', () => {
  it('SAF-4 fit the schemas of the hub whatever texts a server, a person or git puts into them, and settle', async () => {
    await fc.assert(
      fc.asyncProperty(fc.record({ commit, head, report, check: oddText }), async (texts) => {
        const objects = await written(texts);
        expect(objects.length).toBeGreaterThan(0);
        for (const object of objects) expect(validate(object)).toEqual([]);
      }),
      runs(50, 3000),
    );
  });
});
