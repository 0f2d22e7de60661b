import { describe, expect, it } from 'vitest';
import type { Pipeline } from '../../../../src/api/generated/types.ts';
import { createStore } from '../../../../src/kube/cache/store.ts';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import { createSystemClock } from '../../../../src/os/system-clock.ts';
import type { HeadReport } from '../../../../src/sync/commits.ts';
import {
  createPipelineWorker,
  type PipelineWorker,
  type PipelineWorkerOptions,
} from '../../../../src/sync/hub/pipeline/worker.ts';
import { DEFAULT_DELETE_BUDGET } from '../../../../src/sync/judge/delete-budget.ts';
import { eventually } from '../../../support/eventually.ts';
import { createFleetRepository } from '../../../support/fleet-repository.ts';
import { memoryLog } from '../../../support/memory-log.ts';
import { tempFolder } from '../../../support/temp.ts';
import { virtualClock } from '../../../support/virtual-clock.ts';

const SECRET: KubeObject = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'git-token', namespace: 'kubenode-system' },
  data: { token: Buffer.from('s3cret').toString('base64') },
};
const SOURCE = {
  signatures: 'None',
  signers: [],
  repository: 'https://git.example.com/fleet',
  ref: 'refs/heads/main',
};

describe('createPipelineWorker', () => {
  it.each<[name: string, secrets: readonly KubeObject[], source: object, expected: string]>([
    [
      'a Secret that does not permit its use, with the command that permits it',
      [SECRET],
      { credentialsRef: { name: 'git-token' } },
      "CredentialsInvalid.*does not permit Pipeline fleet.*kubectl -n kubenode-system annotate secret git-token 'kubenode.dev/secret-use=git; git.example.com'",
    ],
    [
      'a Secret that does not exist',
      [],
      { credentialsRef: { name: 'git-token' } },
      'CredentialsInvalid.*git-token, which Pipeline fleet references, does not exist',
    ],
  ])('records %s in the status of the Pipeline', async (_, secrets, source, expected) => {
    const { reported, clock, close } = bed(secrets, source);
    await clock.advance(0);
    expect(reported).toHaveLength(1);
    const { reason, message } = reported[0]?.unopened ?? {};
    expect(`${reason} ${message}`).toMatch(new RegExp(expected));
    expect(JSON.stringify(reported)).not.toContain('s3cret');
    await close();
  });

  it('SAF-5 does not judge a refused head again when the Lease was lost and is held again', async () => {
    const repository = createFleetRepository();
    const head = repository.commit('one', { 'a.yaml': 'a: b' });
    const source = { repository: `file://${repository.bare}`, pollSeconds: 30, path: '.' };
    const judged: string[] = [];
    let isHeld = true;
    let withoutLease = 0;
    const notHeldReason = (): string | undefined => {
      if (isHeld) return undefined;
      withoutLease += 1;
      return 'lost';
    };
    const { reported, worker } = bed([], source, {
      clock: createSystemClock(),
      gitFolder: tempFolder('git'),
      clusterCommits: () => [],
      policy: () => ({ budget: DEFAULT_DELETE_BUDGET, acknowledgements: [] }),
      lease: { notHeldReason, fence: () => undefined } as never,
      renderer: {
        async judge({ commit }) {
          judged.push(commit);
          const verdict = { accepted: false, message: 'no' } as const;
          return { rendered: { commit, targets: [] }, warnings: [], verdict };
        },
        commit: () => Promise.reject(new Error('a refused commit was read')),
      },
    });
    worker.requeue();
    for (let lease = 1; lease <= 3; lease += 1) {
      const before = reported.length;
      isHeld = true;
      worker.requeue();
      const refused = await eventually(
        async () => reported.slice(before).find(({ verdict }) => verdict === 'Refused'),
        'the head was not refused',
      );
      expect(refused).toMatchObject({ commit: head, message: 'no' });
      isHeld = false;
      worker.requeue();
      // The next reconcile begins after this one has closed the session.
      const asked = withoutLease;
      await eventually(async () => withoutLease > asked || undefined, 'the Lease was not found lost');
    }
    expect(judged).toEqual([head]);
    await worker.close();
  });
});

interface Bed {
  readonly reported: HeadReport[];
  readonly clock: ReturnType<typeof virtualClock>;
  readonly worker: PipelineWorker;
  readonly close: () => Promise<void>;
}

function bed(
  present: readonly KubeObject[],
  source: object,
  options: Partial<PipelineWorkerOptions> = {},
): Bed {
  const log = memoryLog();
  const clock = virtualClock();
  const secrets = createStore({ log });
  for (const secret of present) secrets.put(secret);
  const pipeline = {
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'Pipeline',
    metadata: { name: 'fleet' },
    spec: { source: { ...SOURCE, ...source }, stages: [] },
  } as unknown as Pipeline;
  const pipelines = createStore<Pipeline>({ log });
  pipelines.put(pipeline);
  const stores = { secrets, pipelines, clusters: createStore({ log }), releases: createStore({ log }) };
  const reported: HeadReport[] = [];
  const worker = createPipelineWorker({
    name: 'fleet',
    hub: { stores, pipeline: async () => pipeline } as unknown as PipelineWorkerOptions['hub'],
    lease: { notHeldReason: () => undefined } as PipelineWorkerOptions['lease'],
    gitFolder: '/nowhere',
    clock,
    log,
    random: () => 0.5,
    reportSource: async (_: string, head: HeadReport) => void reported.push(head),
    ...options,
  } as unknown as PipelineWorkerOptions);
  return { reported, clock, worker, close: () => worker.close() };
}
