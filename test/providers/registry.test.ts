import { describe, expect, it } from 'vitest';
import { PROVIDERS, type ProviderName } from '../../src/api/enums.ts';
import { createSystemClock } from '../../src/os/system-clock.ts';
import { findProviderEntry, openProviders, PROVIDER_REGISTRY } from '../../src/providers/registry.ts';
import { tempFolder } from '../support/temp.ts';
import { ALIBABA_CONTRACT } from './alibaba/contract.ts';
import { AWS_CONTRACT } from './aws/contract.ts';
import { AZURE_CONTRACT } from './azure/contract.ts';
import type { ContractProvider } from './contract/harness.ts';
import { describeProviderContract } from './contract/suite.ts';
import { LOCAL_CONTRACT, STUB_PROGRAMS } from './local/stub-agents.ts';
import { SSH_CONTRACT } from './ssh/pool/contract.ts';

/** A provider without a contract does not compile. */
const CONTRACTS: Readonly<Record<ProviderName, ContractProvider>> = {
  local: LOCAL_CONTRACT,
  ssh: SSH_CONTRACT,
  alibaba: ALIBABA_CONTRACT,
  aws: AWS_CONTRACT,
  azure: AZURE_CONTRACT,
};

for (const name of PROVIDERS) describeProviderContract(CONTRACTS[name]);

describe('PROVIDER_REGISTRY', () => {
  it('MAC-34 has the providers that the API calls supported, each in the contract suite under its name', () => {
    expect(Object.values(PROVIDER_REGISTRY).map(({ name }) => name)).toEqual([...PROVIDERS]);
    expect(Object.keys(PROVIDER_REGISTRY)).toEqual([...PROVIDERS]);
    expect(PROVIDERS.map((name) => CONTRACTS[name].entry)).toEqual(Object.values(PROVIDER_REGISTRY));
  });

  it.each(PROVIDERS)('finds the entry for %s', (name) => {
    expect(findProviderEntry(name)?.name).toBe(name);
  });

  it.each(['gcp', 'toString'])('has no entry for %s, which kinds of a newer version may have', (name) => {
    expect(findProviderEntry(name as never)).toBeUndefined();
  });

  it.each(PROVIDERS)('tells how to start %s', (name) => {
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
