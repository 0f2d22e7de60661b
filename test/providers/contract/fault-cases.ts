/** Faults between a provider and its cloud: answers that are lost, late, cut or old. */
import { expect, it } from 'vitest';
import { instanceOf, type OpenCase } from './case.ts';
import { CLUSTER, type ContractFault, type ContractProvider, NEVER, requestOf } from './harness.ts';

/** What the answer of a throttled request asks for. */
const RETRY_AFTER_SECONDS = 7;

interface FaultCase {
  readonly title: string;
  readonly fault: ContractFault;
  readonly run: () => Promise<void>;
}

export function describeFaults(open: OpenCase, { withoutFaults }: ContractProvider): void {
  const cases = faultCases(open).filter(({ fault }) => withoutFaults[fault] === undefined);
  it.each(cases)('with $fault $title', async ({ run }) => {
    await run();
    expect.hasAssertions();
  });

  // The report contains the reason, so that no case is left out in silence.
  it.each(Object.entries(withoutFaults) as [ContractFault, string][])(
    'has no %s: %s',
    async (fault, reason) => {
      await expect(open().harness.inject(fault, 'create')).rejects.toThrow(reason);
    },
  );
}

function faultCases(open: OpenCase): readonly FaultCase[] {
  return [...actCases(open), ...lostCases(open), ...throttledCases(open), ...listCases(open)];
}
/** It happens, and the provider does not hear of it. */
function actCases(open: OpenCase): readonly FaultCase[] {
  return (['AnswerLost', 'TimeOutAfterSuccess'] as const).flatMap((fault) => [
    faulty(fault, 'tells that it may have created an instance, which a repetition returns', async () => {
      const one = open();
      const request = requestOf(one.shape);
      const { machineUid } = request.tags;
      await one.harness.inject(fault, 'create');
      await expect(one.provider.create(request, NEVER)).rejects.toMatchObject({ code: 'Ambiguous' });
      expect(await one.harness.countHosts(machineUid)).toBe(1);
      const id = await one.provider.create(request, NEVER);
      const found = await one.provider.find({ clusterUid: CLUSTER, machineUid }, NEVER);
      expect([found.map((each) => each.id), await one.harness.countHosts(machineUid)]).toEqual([[id], 1]);
    }),

    faulty(fault, 'returns the instance also to a repetition with a new bootstrap file', async () => {
      const one = open();
      const request = requestOf(one.shape);
      await one.harness.inject(fault, 'create');
      await expect(one.provider.create(request, NEVER)).rejects.toMatchObject({ code: 'Ambiguous' });
      await one.provider.create({ ...request, bootstrap: 'fedcba.fedcba9876543210' }, NEVER);
      expect(await one.harness.countHosts(request.tags.machineUid)).toBe(1);
    }),

    faulty(fault, 'deletes once, however often it is called', async () => {
      const one = open();
      const { id, uid } = await one.create();
      await one.harness.inject(fault, 'delete');
      await expect(one.provider.delete(id, NEVER)).rejects.toMatchObject({ code: 'Retryable' });
      await one.provider.delete(id, NEVER);
      expect([await one.harness.countHosts(uid), await one.provider.get(id, NEVER)]).toEqual([0, undefined]);
    }),
  ]);
}

function lostCases(open: OpenCase): readonly FaultCase[] {
  return [
    faulty('AnswerLost', 'calls no instance missing that it could not get', async () => {
      const one = open();
      const { id } = await one.create();
      await one.harness.inject('AnswerLost', 'get');
      await expect(one.provider.get(id, NEVER)).rejects.toMatchObject({ code: 'Retryable' });
      expect((await instanceOf(one, id)).state).toBe('Running');
    }),

    faulty('AnswerLost', 'finds nothing rather than less', async () => {
      const one = open();
      await one.create();
      await one.harness.inject('AnswerLost', 'find');
      const filter = { clusterUid: CLUSTER };
      await expect(one.provider.find(filter, NEVER)).rejects.toMatchObject({ code: 'Retryable' });
      expect(await one.provider.find(filter, NEVER)).toHaveLength(1);
    }),

    faulty('AnswerLost', 'switches the power off by a repetition', async () => {
      const one = open();
      const { id, uid } = await one.create();
      await one.harness.inject('AnswerLost', 'power');
      await expect(one.provider.power(id, 'off', NEVER)).rejects.toMatchObject({ code: 'Retryable' });
      await one.provider.power(id, 'off', NEVER);
      expect(await one.harness.countHosts(uid)).toBe(0);
    }),

    faulty('AnswerLost', 'announces nothing rather than less', async () => {
      const { harness, provider } = open();
      await harness.inject('AnswerLost', 'events');
      await expect(provider.events(NEVER)).rejects.toMatchObject({ code: 'Retryable' });
    }),
  ];
}

function throttledCases(open: OpenCase): readonly FaultCase[] {
  const throttled = { code: 'Retryable', retryAfterSeconds: RETRY_AFTER_SECONDS };
  return [
    faulty('Throttled', 'creates nothing, and tells how long to wait', async () => {
      const one = open();
      const request = requestOf(one.shape);
      await one.harness.inject('Throttled', 'create');
      await expect(one.provider.create(request, NEVER)).rejects.toMatchObject(throttled);
      expect(await one.harness.countHosts(request.tags.machineUid)).toBe(0);
      await one.provider.create(request, NEVER);
      expect(await one.harness.countHosts(request.tags.machineUid)).toBe(1);
    }),

    faulty('Throttled', 'deletes nothing, and tells how long to wait', async () => {
      const one = open();
      const { id, uid } = await one.create();
      await one.harness.inject('Throttled', 'delete');
      await expect(one.provider.delete(id, NEVER)).rejects.toMatchObject(throttled);
      expect(await one.harness.countHosts(uid)).toBe(1);
    }),

    faulty('Throttled', 'calls no instance missing, and tells how long to wait', async () => {
      const one = open();
      const { id } = await one.create();
      await one.harness.inject('Throttled', 'get');
      await expect(one.provider.get(id, NEVER)).rejects.toMatchObject(throttled);
    }),

    faulty('Throttled', 'finds nothing rather than less, and tells how long to wait', async () => {
      const one = open();
      await one.harness.inject('Throttled', 'find');
      await expect(one.provider.find({ clusterUid: CLUSTER }, NEVER)).rejects.toMatchObject(throttled);
    }),

    faulty('Throttled', 'leaves the power as it is, and tells how long to wait', async () => {
      const one = open();
      const { id, uid } = await one.create();
      await one.harness.inject('Throttled', 'power');
      await expect(one.provider.power(id, 'off', NEVER)).rejects.toMatchObject(throttled);
      expect(await one.harness.countHosts(uid)).toBe(1);
    }),
  ];
}

function listCases(open: OpenCase): readonly FaultCase[] {
  return [
    faulty('StaleList', 'does not have a new instance yet, creates no other one', async () => {
      const one = open();
      const { id, uid, request } = await one.create();
      await one.harness.inject('StaleList', 'create');
      expect(await one.provider.create(request, NEVER)).toBe(id);
      expect(await one.harness.countHosts(uid)).toBe(1);
    }),

    faulty('StaleList', 'does not have a new instance yet, creates no other one for a new file', async () => {
      const one = open();
      const { uid, request } = await one.create();
      await one.harness.inject('StaleList', 'create');
      const again = { ...request, bootstrap: 'fedcba.fedcba9876543210' };
      await one.provider.create(again, NEVER).catch(() => undefined);
      expect(await one.harness.countHosts(uid)).toBe(1);
    }),

    faulty('StaleList', 'does not have a new instance yet, gets nothing without an error', async () => {
      const one = open();
      const { id } = await one.create();
      await one.harness.inject('StaleList', 'get');
      expect(await one.provider.get(id, NEVER)).toBeUndefined();
      expect((await instanceOf(one, id)).id).toBe(id);
    }),

    faulty('WrongOrder', 'has another order, finds the instances by their ids', async () => {
      const one = open();
      const ids: string[] = [];
      for (const _ of 'abcd') ids.push((await one.create()).id);
      await one.harness.inject('WrongOrder', 'find');
      const found = await one.provider.find({ clusterUid: CLUSTER }, NEVER);
      expect(found.map(({ id }) => id)).toEqual(ids.toSorted());
    }),

    faulty('HalfPage', 'is cut off, finds nothing rather than a part', async () => {
      const one = open();
      for (const _ of 'abc') await one.create();
      await one.harness.inject('HalfPage', 'find');
      const filter = { clusterUid: CLUSTER };
      await expect(one.provider.find(filter, NEVER)).rejects.toMatchObject({ code: 'Retryable' });
      expect(await one.provider.find(filter, NEVER)).toHaveLength(3);
    }),

    faulty('HalfPage', 'is cut off, calls no instance missing', async () => {
      const one = open();
      const { id } = await one.create();
      await one.harness.inject('HalfPage', 'get');
      await expect(one.provider.get(id, NEVER)).rejects.toMatchObject({ code: 'Retryable' });
    }),

    faulty('HalfPage', 'is cut off before a creation, creates at most one instance', async () => {
      const one = open();
      const { uid, request } = await one.create();
      await one.harness.inject('HalfPage', 'create');
      await one.provider.create(request, NEVER).catch(() => undefined);
      await one.provider.create(request, NEVER);
      expect(await one.harness.countHosts(uid)).toBe(1);
    }),
  ];
}

function faulty(fault: ContractFault, title: string, run: () => Promise<void>): FaultCase {
  return { fault, title, run };
}
