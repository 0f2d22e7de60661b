import { describe, expect, it } from 'vitest';
import type {
  MachineComponentSet,
  MachineComponentSetStatus,
  RevisionRecord,
} from '../../../../src/api/generated/types.ts';
import { rolloutTraces } from '../../../../src/observability/trace/sources/rollout.ts';
import { type Span, spansOf } from '../../../../src/observability/trace/spans.ts';
import { changeSpan } from '../../../../src/observability/trace/trace.ts';
import { later } from '../../../controllers/remedyjob/jobs.ts';

const COMMIT = '4f2c9e1a77b0';

/** Sync writes the annotation again with each change of the set, also with one that begins no rollout. */
function setWith(status: Partial<MachineComponentSetStatus>, changedBy = COMMIT): MachineComponentSet {
  return {
    metadata: { name: 'general', uid: 'uid-set', annotations: { 'kubenode.dev/commit': changedBy } },
    status: { conditions: [], updateRevision: 'r-2', startedAt: later(0), commit: COMMIT, ...status },
  } as unknown as MachineComponentSet;
}

const COMPLETED = {
  revision: 'r-2',
  result: 'Completed',
  startedAt: later(0),
  finishedAt: later(600),
  components: ['kubelet-1.34.2'],
  commit: COMMIT,
} as const;
const { commit: _commit, ...UNKNOWN } = COMPLETED;
const FAILURE = { reason: 'FailureBudgetSpent', message: 'machines failed: 1, allowed: 0. m-3: ProbeFailed' };

const BATCH = { index: 1, of: 3, size: 5, updated: 5, startedAt: later(10), settledAt: later(100) };

/** A record of a rollout of another commit that ended before. */
function before(revision: string, more: Partial<RevisionRecord>): RevisionRecord {
  return { ...COMPLETED, revision, startedAt: later(-900), commit: 'b'.repeat(40), ...more };
}

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

  it('stay in the trace of the commit that began the rollout when a later one changes the set', () => {
    const status = { batch: BATCH, history: [COMPLETED] };
    expect(spans(setWith(status, 'b'.repeat(40)))).toEqual(spans(setWith(status)));
  });

  it('have the failure that was recorded as the reason of a rollback, with the machines that failed', () => {
    const failedMachines = [
      { name: 'm-3', component: 'kubelet', code: 'ProbeFailed', message: 'probe: 500', since: later(90) },
    ];
    const record = { ...COMPLETED, ...FAILURE, result: 'RolledBack' } as const;
    const [rollout] = spans(setWith({ history: [record], failedMachines }));
    expect(rollout).toMatchObject({
      error: 'FailureBudgetSpent: machines failed: 1, allowed: 0. m-3: ProbeFailed',
      attributes: { 'error.type': 'FailureBudgetSpent' },
    });
    expect(rollout?.events).toMatchObject([
      { name: 'machine failed', attributes: { 'k8s.node.name': 'm-3' } },
    ]);
  });

  it('have the batch that exceeded its budget within a rollout that was taken back', () => {
    const { settledAt: _, ...batch } = { ...BATCH, failed: 1 };
    const history = [{ ...COMPLETED, ...FAILURE, result: 'RolledBack' } as const];
    const [rollout, failed] = spans(setWith({ batch, history }));
    expect(failed).toMatchObject({
      name: 'batch',
      error: `FailureBudgetSpent: ${FAILURE.message}`,
      parentSpanId: rollout?.spanId,
      endMs: rollout?.endMs,
      attributes: { 'kubenode.end_unknown': true },
    });
  });

  it('have each rollout that ended, whatever is rolled out now', () => {
    const history = [
      before('r-b', { result: 'RolledBack', reason: 'GateFailed', message: 'errors: 5' }),
      before('r-s', { result: 'Superseded' }),
      before('r-f', { result: 'Superseded', ...FAILURE }),
    ];
    const found = spans(setWith({ history, counts: { selected: 7 }, batch: {} }));
    expect(
      found.map(({ attributes, error, isOk }) => [attributes['kubenode.revision'], error, isOk]),
    ).toEqual([
      ['r-b', 'GateFailed: errors: 5', false],
      ['r-s', undefined, false],
      ['r-f', `FailureBudgetSpent: ${FAILURE.message}`, false],
    ]);
    expect(new Set(found.map(({ traceId }) => traceId))).toEqual(
      new Set([changeSpan('b'.repeat(40)).traceId]),
    );
    // The counts are those of another rollout.
    expect(found[0]?.attributes['kubenode.machines']).toBeUndefined();
  });

  it.each<[name: string, status: Partial<MachineComponentSetStatus>]>([
    ['that goes on', { history: [{ revision: 'r-2', result: 'RolledBack', commit: COMMIT }] }],
    ['without a recorded commit', { commit: undefined as never, history: [UNKNOWN], batch: BATCH }],
    ['whose batch has machines that move', { batch: { index: 1, startedAt: later(10) } }],
  ])('are none of a rollout %s', (_, status) => {
    expect(rolloutTraces(setWith(status))).toEqual([]);
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
