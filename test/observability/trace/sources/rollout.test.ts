import { describe, expect, it } from 'vitest';
import type { MachineComponentSet, MachineComponentSetStatus } from '../../../../src/api/generated/types.ts';
import { rolloutTraces } from '../../../../src/observability/trace/sources/rollout.ts';
import { type Span, spansOf } from '../../../../src/observability/trace/spans.ts';
import { changeSpan } from '../../../../src/observability/trace/trace.ts';
import { later } from '../../../controllers/remedyjob/jobs.ts';

const COMMIT = '4f2c9e1a77b0';

function setWith(
  status: Partial<MachineComponentSetStatus>,
  annotations: Readonly<Record<string, string>> = { 'kubenode.dev/commit': COMMIT },
): MachineComponentSet {
  return {
    metadata: { name: 'general', uid: 'uid-set', annotations },
    status: { conditions: [], updateRevision: 'r-2', startedAt: later(0), ...status },
  } as unknown as MachineComponentSet;
}

const COMPLETED = {
  revision: 'r-2',
  result: 'Completed',
  startedAt: later(0),
  finishedAt: later(600),
  components: ['kubelet-1.34.2'],
} as const;

const BATCH = { index: 1, of: 3, size: 5, updated: 5, startedAt: later(10), settledAt: later(100) };

function spans(set: MachineComponentSet): readonly Span[] {
  return rolloutTraces(set).flatMap(({ trace }) => spansOf(trace()));
}

describe('DAT-10 the traces of a rollout', () => {
  it('have a span of each batch whose machines are settled, as a part of that of the rollout', () => {
    const [batch] = spans(setWith({ batch: BATCH }));
    const [rollout] = spans(setWith({ history: [COMPLETED] }));
    expect(batch).toMatchObject({ name: 'batch', isOk: true, attributes: { 'kubenode.batch': 1 } });
    expect(batch?.parentSpanId).toBe(rollout?.spanId);
    expect(batch?.traceId).toBe(rollout?.traceId);
  });

  it('are parts of the trace of the commit', () => {
    const [rollout] = spans(setWith({ history: [COMPLETED] }));
    const { traceId, spanId } = changeSpan(COMMIT);
    expect(rollout).toMatchObject({
      traceId,
      parentSpanId: spanId,
      name: 'rollout',
      attributes: {
        'kubenode.component_set': 'general',
        'kubenode.commit': COMMIT,
        'kubenode.components': 'kubelet-1.34.2',
      },
    });
  });

  it('have the first machine that failed as the reason of a rollback', () => {
    const failedMachines = [
      { name: 'm-3', component: 'kubelet', code: 'ProbeFailed', message: 'probe: 500', since: later(90) },
    ];
    const [rollout] = spans(setWith({ history: [{ ...COMPLETED, result: 'RolledBack' }], failedMachines }));
    expect(rollout).toMatchObject({
      error: 'ProbeFailed: probe: 500',
      attributes: { 'error.type': 'ProbeFailed' },
    });
    expect(rollout?.events).toMatchObject([
      { name: 'machine failed', attributes: { 'k8s.node.name': 'm-3' } },
    ]);
  });

  it.each<[name: string, set: MachineComponentSet]>([
    ['that goes on', setWith({ history: [{ ...COMPLETED, revision: 'r-1' }] })],
    [
      'that was superseded, whose commit is not recorded',
      setWith({ history: [{ ...COMPLETED, result: 'Superseded' }] }),
    ],
    ['that is not from git', setWith({ history: [COMPLETED], batch: BATCH }, {})],
    ['whose batch has machines that move', setWith({ batch: { index: 1, startedAt: later(10) } })],
  ])('are none of a rollout %s', (_, set) => {
    expect(rolloutTraces(set)).toEqual([]);
  });

  it('have other IDs when the same revision is rolled out again', () => {
    const again = { ...COMPLETED, startedAt: later(900), finishedAt: later(1000) };
    const [one, other] = [COMPLETED, again].flatMap((record) => spans(setWith({ history: [record] })));
    expect(one?.spanId).not.toBe(other?.spanId);
  });

  it('have the batch again when a machine of it failed while it soaked', () => {
    const [first, second] = [BATCH, { ...BATCH, failed: 1, settledAt: later(120) }].flatMap((batch) =>
      rolloutTraces(setWith({ batch })),
    );
    expect(first?.key).not.toBe(second?.key);
    expect(spansOf(second?.trace() as never)).toMatchObject([{ error: '1 machines failed' }]);
  });
});
