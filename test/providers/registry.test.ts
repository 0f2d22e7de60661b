import { describe, expect, it } from 'vitest';
import { INSTANCE_PROVIDERS, type InstanceProvider, PROVIDERS } from '../../src/api/enums.ts';
import { INACTIVE_FIELDS } from '../../src/api/inactive/fields.ts';
import { createSystemClock } from '../../src/os/system-clock.ts';
import { findProviderEntry, openProviders, PROVIDER_REGISTRY } from '../../src/providers/registry.ts';
import { tempFolder } from '../support/temp.ts';
import { ALIBABA_CONTRACT } from './alibaba/contract.ts';
import { AWS_CONTRACT } from './aws/contract.ts';
import type { ContractProvider } from './contract/harness.ts';
import { describeProviderContract } from './contract/suite.ts';
import { LOCAL_CONTRACT, STUB_PROGRAMS } from './local/stub-agents.ts';
import { SSH_CONTRACT } from './ssh/pool/contract.ts';

/** A provider without a contract does not compile. */
const CONTRACTS: Readonly<Record<InstanceProvider, ContractProvider>> = {
  local: LOCAL_CONTRACT,
  ssh: SSH_CONTRACT,
  alibaba: ALIBABA_CONTRACT,
  aws: AWS_CONTRACT,
};

for (const name of INSTANCE_PROVIDERS) describeProviderContract(CONTRACTS[name]);

describe('PROVIDER_REGISTRY', () => {
  it('has the providers that the API calls supported, each under its name', () => {
    expect(Object.values(PROVIDER_REGISTRY).map(({ name }) => name)).toEqual([...INSTANCE_PROVIDERS]);
    expect(Object.keys(PROVIDER_REGISTRY)).toEqual([...INSTANCE_PROVIDERS]);
    expect(INSTANCE_PROVIDERS.map((name) => CONTRACTS[name].entry)).toEqual(Object.values(PROVIDER_REGISTRY));
  });

  it.each([
    ['Machine', 'spec.infra.provider'],
    ['MachineSet', 'spec.template.infra.provider'],
  ])('has the providers that validation accepts in a %s', (kind, path) => {
    const field = INACTIVE_FIELDS[kind]?.find((each) => each.path === path);
    expect(field?.accepts).toEqual(Object.keys(PROVIDER_REGISTRY));
  });

  it.each(PROVIDERS)('has an entry for %s, or none', (name) => {
    const isSupported = INSTANCE_PROVIDERS.some((each) => each === name);
    expect(findProviderEntry(name)?.name).toBe(isSupported ? name : undefined);
  });

  it.each(INSTANCE_PROVIDERS)('tells how to start %s', (name) => {
    expect(PROVIDER_REGISTRY[name].startHint).toMatch(/^run kubenode controllers with --.+[^.]$/);
  });
});

describe('openProviders', () => {
  it('opens those that have options', async () => {
    expect(await openProviders({})).toEqual({});
    const options = { machines: tempFolder('machines'), programs: STUB_PROGRAMS, clock: createSystemClock() };
    const { local, ...others } = await openProviders({ local: options });
    expect([local?.name, others]).toEqual(['local', {}]);
  });
});
