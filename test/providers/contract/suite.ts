/**
 * The contract of providers (src/providers/contract.ts), for each shape of instance that a provider accepts. A short run has all cases
 * of one shape, and of the others those of the life of an instance.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { slice } from '../../support/sweep-size.ts';
import { describeAccount } from './account-cases.ts';
import type { OpenCase } from './case.ts';
import { describeErrors } from './error-cases.ts';
import { describeFaults } from './fault-cases.ts';
import { describeFind } from './find-cases.ts';
import { type ContractHarness, type ContractProvider, NEVER, requestOf } from './harness.ts';
import { describeLife, describeNoPower, describePower } from './life-cases.ts';
import { describeSwitch } from './switch-cases.ts';

export function describeProviderContract(contract: ContractProvider): void {
  const { entry, unavailable } = contract;
  const why = unavailable === undefined ? '' : ` (${unavailable})`;
  describe.skipIf(unavailable !== undefined)(`the contract of providers for ${entry.name}${why}:`, () => {
    let end: (() => Promise<void>) | undefined;
    beforeAll(async () => {
      end = await contract.prepare?.();
    }, PREPARE_MS);
    afterAll(() => end?.());
    describeContract(contract);
  });
}

/** The first run of a machine installs what stands in for a cloud. */
const PREPARE_MS = 900_000;

function describeContract(contract: ContractProvider): void {
  const { entry } = contract;
  const shapes = Object.entries(contract.accepted);
  // A shape differs from the others in what it creates. What a cloud can do afterwards is the same, and one shape shows it.
  const whole = new Set(
    (contract.everyShape === undefined ? slice(shapes, 1) : shapes).map(([name]) => name),
  );
  describe.each(shapes)(`MAC-34 the provider ${entry.name} with %s`, (name, shape) => {
    let harness: ContractHarness;
    beforeEach(async () => {
      harness = await contract.open();
    });
    afterEach(() => harness[Symbol.asyncDispose]());
    const open: OpenCase = () => ({
      harness,
      provider: harness.provider,
      shape,
      async create(changes) {
        const request = requestOf(shape, changes);
        const id = await harness.provider.create(request, NEVER);
        return { id, uid: request.tags.machineUid, request };
      },
    });
    describeLife(open);
    if (entry.capabilities.power) describePower(open);
    else describeNoPower(open);
    if (!whole.has(name)) return;
    describeSwitch(open, contract);
    describeFind(open);
    describeErrors(open, contract);
    describeFaults(open, contract);
    describeAccount(open, contract);
  });

  describe(`MAC-34 the provider ${entry.name} checks spec.infra.config and`, () => {
    it.each(Object.entries(contract.refused))(
      'refuses %s with the reason, and creates nothing',
      async (_, [shape, reason]) => {
        await using harness = await contract.open();
        expect(entry.configReason(shape)).toContain(reason);
        expect(harness.provider.configReason(shape)).toBe(entry.configReason(shape));
        const request = requestOf(shape);
        await expect(harness.provider.create(request, NEVER)).rejects.toMatchObject({
          code: 'Terminal',
          reason: 'InvalidConfig',
        });
        expect(await harness.countHosts(request.tags.machineUid)).toBe(0);
      },
    );

    it.each(Object.entries(contract.accepted))('accepts %s without asking anybody', async (_, shape) => {
      await using harness = await contract.open();
      expect([harness.provider.name, harness.provider.capabilities]).toEqual([
        entry.name,
        entry.capabilities,
      ]);
      for (const kind of [entry, harness.provider]) {
        expect([kind.configReason(shape), kind.hasInstance(shape)]).toEqual([undefined, true]);
      }
    });
  });
}
