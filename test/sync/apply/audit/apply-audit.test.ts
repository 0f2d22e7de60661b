import { describe, expect, it } from 'vitest';
import type { AuditLine } from '../../../../src/api/audit/lines.ts';
import type { AuditRecord } from '../../../../src/api/audit/record.ts';
import { KubeError } from '../../../../src/kube/client/errors.ts';
import { objectIdOf } from '../../../../src/kube/objects/object-id.ts';
import type { ObjectOutcome } from '../../../../src/sync/apply/apply-steps.ts';
import {
  type ApplyAudit,
  type CommitOrigin,
  createApplyAudit,
} from '../../../../src/sync/apply/audit/apply-audit.ts';
import type { ObjectPlan } from '../../../../src/sync/apply/plan.ts';
import { type MemoryLog, memoryLog } from '../../../support/memory-log.ts';
import { type VirtualClock, virtualClock } from '../../../support/virtual-clock.ts';
import { configMap, entry } from '../fixtures.ts';

interface Bed {
  readonly audit: ApplyAudit;
  readonly clock: VirtualClock;
  readonly log: MemoryLog;
  readonly written: AuditLine[];
  failure: KubeError | undefined;
  origin: CommitOrigin;
  shown(): string;
}

function bed(): Bed {
  const clock = virtualClock();
  const log = memoryLog();
  const written: AuditLine[] = [];
  const record: AuditRecord = {
    async append(lines) {
      if (test.failure) throw test.failure;
      written.push(...lines);
    },
    latest: async () => ({ lines: [], unreadable: 0 }),
  };
  const test: Bed = {
    audit: createApplyAudit({
      record,
      cluster: 'prod',
      origin: () => test.origin,
      clock,
      log,
    }),
    clock,
    log,
    written,
    failure: undefined,
    origin: {},
    shown: () => written.map(shownLine).join(', '),
  };
  return test;
}

function shownLine(line: AuditLine): string {
  if (line.type === 'object') return `${line.object.split('/')[1] ?? ''} ${line.act} ${line.outcome}`;
  return line.type === 'commit' ? `commit ${line.commit} by ${line.author ?? 'unknown'}` : line.type;
}

function outcome(name: string, action: ObjectPlan['action'] = 'update', failed = false): ObjectOutcome {
  const object = configMap(name);
  const plan: ObjectPlan = {
    action,
    id: objectIdOf(object),
    unit: 'web',
    rendered: {
      object,
      source: {},
    },
    object,
    declared: object,
    ignored: [],
    forceManagers: [],
    digest: 'sha256:1',
    force: false,
    because: 'changed in git',
  };
  if (!failed) return { state: 'applied', plan, uid: 'u', adopted: false };
  return { state: 'failed', plan, reason: 'Invalid', message: 'invalid', retryable: false };
}

describe('createApplyAudit', () => {
  it('S30 begins with the commit, and repeats it only when another one follows or more is known', async () => {
    const test = bed();
    await test.audit.of('fleet', 'c1').applied([outcome('a')]);
    await test.audit
      .of('fleet', 'c1')
      .removed([{ entry: entry(configMap('b')), act: 'Deleted', because: 'x' }]);
    test.origin = { author: 'Ann' };
    await test.audit.of('fleet', 'c1').applied([outcome('c')]);
    await test.audit.of('fleet', 'c2').applied([outcome('d')]);
    expect(test.shown()).toBe(
      'commit c1 by unknown, a Updated Succeeded, b Deleted Succeeded, commit c1 by Ann, c Updated Succeeded, commit c2 by Ann, d Updated Succeeded',
    );
  });

  it('S30 gives the commit no later time than the writes after it: lines are sorted by their time', async () => {
    const test = bed();
    Object.defineProperty(test, 'origin', {
      get: () => {
        test.clock.jumpWall(5);
        return {};
      },
    });
    await test.audit.of('fleet', 'c1').applied([outcome('a')]);
    expect(test.written.map(({ type, at }) => [type, at])).toEqual([
      ['commit', test.written[1]?.at],
      ['object', test.written[1]?.at],
    ]);
  });

  it('S30 records each outcome of a reconcile once, also when it plans again', async () => {
    const test = bed();
    const audit = test.audit.of('fleet', 'c1');
    const outcomes = [outcome('a')];
    await audit.applied(outcomes);
    await audit.applied([...outcomes, outcome('b')]);
    expect(test.shown()).toBe('commit c1 by unknown, a Updated Succeeded, b Updated Succeeded');
  });

  it('S30 writes nothing for a reconcile without a write', async () => {
    const test = bed();
    await test.audit.of('fleet', 'c1').applied([]);
    await test.audit.of('fleet', 'c1').removed([]);
    expect(test.written).toEqual([]);
  });

  it.each([
    ['that others change again and again', 'correct', false],
    ['that the server refuses again and again', 'update', true],
  ] as const)('S30 has one line in ten minutes for an object %s', async (_, action, failed) => {
    const test = bed();
    const repeat = (): Promise<void> => test.audit.of('fleet', 'c1').applied([outcome('a', action, failed)]);
    await repeat();
    await test.clock.advance(599_999);
    await repeat();
    expect(test.written).toHaveLength(2);
    await test.clock.advance(1);
    await repeat();
    expect(test.written).toHaveLength(3);
  });

  it('S30 records a refusal again after the object was written in between', async () => {
    const test = bed();
    for (const failed of [true, false, true]) {
      await test.audit.of('fleet', 'c1').applied([outcome('a', 'update', failed)]);
    }
    expect(test.shown()).toBe(
      'commit c1 by unknown, a Updated Failed, a Updated Succeeded, a Updated Failed',
    );
  });

  it.each(['NotFound', 'Forbidden', 'Invalid'] as const)(
    'S30 goes on where the record cannot be written after the error %s, and logs it once',
    async (code) => {
      const test = bed();
      test.failure = new KubeError(code, 'namespace kubenode-audit');
      await test.audit.of('fleet', 'c1').applied([outcome('a')]);
      await test.audit.of('fleet', 'c1').applied([outcome('b')]);
      expect(test.log.lines.map(({ message }) => message)).toEqual(['writes not recorded for audit']);
    },
  );

  it('S30 fails the reconcile after another error, and records everything in the next one', async () => {
    const test = bed();
    test.failure = new KubeError('Timeout', 'no answer');
    await expect(test.audit.of('fleet', 'c1').applied([outcome('a')])).rejects.toThrow('no answer');
    test.failure = undefined;
    await test.audit.of('fleet', 'c1').applied([outcome('a')]);
    expect(test.shown()).toBe('commit c1 by unknown, a Updated Succeeded');
  });
});
